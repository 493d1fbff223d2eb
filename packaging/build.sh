#!/bin/sh
# Builds counterflow-agent as .deb and .rpm into a folder. `make package` calls it.
# The package has all libraries of the agent for one Python, that of the checkout, from which it depends.
set -eu
uv=$1 nfpm=$2 to=$3
cd "$(dirname "$0")/.."
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
PYTHON=$(.venv/bin/python -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
case $(uname -m) in x86_64) ARCH=amd64 ;; aarch64) ARCH=arm64 ;; *) ARCH=$(uname -m) ;; esac
export VERSION PYTHON ARCH

mkdir -p "$to"
stage=$(mktemp -d "$(realpath "$to")/stage.XXXXXX")
trap 'rm -r "$stage"' EXIT
chmod 755 "$stage"
root=$stage/opt/counterflow
"$uv" export --quiet --frozen --no-default-groups --extra mapepire --no-emit-project --output-file "$stage/requirements.txt"
"$uv" pip install --quiet --python .venv/bin/python --compile-bytecode --target "$root/lib" --require-hashes -r "$stage/requirements.txt"
"$uv" pip install --quiet --python .venv/bin/python --compile-bytecode --target "$root/lib" --no-deps .
rm -rf "$root/lib/bin" "$root/lib/.lock"

mkdir "$root/bin"
cat > "$root/bin/counterflow" << LAUNCHER
#!/bin/sh
# Python's own folder of this user and its variables are left out (-s): only what the package has is loaded.
PYTHONPATH=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")/lib exec $PYTHON -s -m counterflow "\$@"
LAUNCHER
chmod 755 "$root/bin/counterflow"
"$root/bin/counterflow" agent install --print --program /opt/counterflow/bin/counterflow > "$stage/counterflow-agent.service"

cp packaging/nfpm.yaml packaging/scripts/*.sh collectors/agent.example.yaml LICENSE "$stage"
to=$(realpath "$to")
for kind in deb rpm; do
  (cd "$stage" && "$nfpm" package --config nfpm.yaml --packager "$kind" --target "$to" > /dev/null)
done
ls "$to"/counterflow-agent*"$VERSION"*
