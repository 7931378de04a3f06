# install.sh [PREFIX]: copies tool.sh to PREFIX/bin, /usr/local when absent
