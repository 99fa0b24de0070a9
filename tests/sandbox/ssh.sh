# A server of ssh for the user $1 in the folder $2, and a clone through it in a sandbox. $3 is shellgate, $4 a free port.
# Runs in namespaces of its own: it replaces /etc/passwd, settings of ssh, and /run.
set -e
user=$1 folder=$2 shellgate=$3 port=$4
mkdir -p "$folder/home/.ssh" "$folder/home/.config/shellgate" "$folder/root"
cp /etc/passwd "$folder/passwd"
sed -i "/^root:/d" "$folder/passwd"
echo "gate:x:$user:$user::$folder/home:/bin/bash" >> "$folder/passwd"
chown -R "$user:$user" "$folder"
chmod 700 "$folder/home/.ssh"
mount --bind "$folder/passwd" /etc/passwd
mount -t tmpfs tmpfs /etc/ssh/ssh_config.d
mount -t tmpfs tmpfs /run
mkdir /run/sshd
# Settings of root: in a user namespace they are shown as nobody's, which ssh refuses.
cat > /etc/ssh/ssh_config.d/gate.conf <<END
Host gate
  HostName 127.0.0.1
  Port $port
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  BatchMode yes
  LogLevel ERROR
END
as() { HOME=$folder/home XDG_CONFIG_HOME=$folder/home/.config setpriv --reuid="$user" --regid="$user" --clear-groups "$@"; }
cd "$folder/home"
as ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519
as cp .ssh/id_ed25519.pub .ssh/authorized_keys
as ssh-keygen -q -t ed25519 -N '' -f host
as git init -q --bare bare
as "$(command -v sshd)" -D -e -f /dev/null -p $port -h "$PWD/host" -o UsePAM=no -o StrictModes=no -o PidFile=none \
  -o PermitRootLogin=yes -o AuthorizedKeysFile="$PWD/.ssh/authorized_keys" 2> "$folder/sshd.log" &
for _ in $(seq 100); do
  (exec 3<> /dev/tcp/127.0.0.1/$port) 2> /dev/null && break
  sleep 0.05
done
cd "$folder/root"
export SHELLGATE_HOME=$folder/state
clone() { as "$shellgate" run --approve allow "git clone -q gate:$folder/home/bare $1" && echo "$1 cloned"; }
clone denied || echo "denied failed"
cat > "$folder/home/.config/shellgate/config.toml" <<END
[[policy.rule]]
prefix = ["git", "clone"]
decision = "allow"
grants = { read = ["~/.ssh"] }
END
clone granted || cat "$folder/sshd.log"
as "$shellgate" run --approve allow 'cat ~/.ssh/id_ed25519' || echo "key unreadable"
