echo "usage: tool.sh"
