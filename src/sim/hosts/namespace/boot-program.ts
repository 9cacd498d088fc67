/**
 * What becomes the first process of a boot, in namespaces of its own and still with the programs of this machine. It
 * gives the node its name, its processes, its devices and the socket of the simulator, and leaves everything else of
 * this machine behind. Arguments: the root, the name, the socket.
 */
export const bootProgram = `set -eu
root=$1 name=$2 socket=$3
mount -t proc proc "$root/proc"
printf '%s' "$name" >"$root/proc/sys/kernel/hostname"
mount -t tmpfs -o mode=755,size=64k devices "$root/dev"
for one in 'null 1 3' 'zero 1 5' 'full 1 7' 'random 1 8' 'urandom 1 9' 'tty 5 0'; do
  set -- $one
  mknod -m 666 "$root/dev/$1" c "$2" "$3"
done
mkdir "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 terminals "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for one in 'stdin 0' 'stdout 1' 'stderr 2'; do ln -s "/proc/self/fd/\${one#* }" "$root/dev/\${one% *}"; done
mount --bind "$socket" "$root/.sim/socket"
cd "$root"
pivot_root . .sim/outside
/.sim/programs/umount -l /.sim/outside
exec /usr/bin/perl /.sim/agent
`;
