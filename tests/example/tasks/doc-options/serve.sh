# serve.sh [--port N] [--root DIR] [--quiet]
