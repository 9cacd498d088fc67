import { shellQuote } from '../../model/node-files.ts';
import { routesPath } from '../../tools/ifconfig.ts';
import { from } from '../../tools/tool.ts';
import { linkTablePath } from '../launchd-process.ts';
import { linkNamesPath } from '../link-table.ts';
import { markVariable } from '../ssh/ssh-user.ts';
import { roomFunctions, type ToolRow, type WrapperContext } from './wrapper.ts';

/** File with the servers that represent the rest of the network: `models.lan:80 127.0.0.1:43211`. */
const webPath = '/.sim/web';
const urlsPath = '/.sim/urls';

/**
 * Fills `@listening` with the lines of listening sockets or, with `$whole`, of connections. Listening sockets come
 * first in the kernel's table. The code reads line by line and stops as soon as possible, because the kernel searches
 * hundreds of thousands of slots for connections. `s` returns a line as address, port, state and far end.
 *
 * @see Linux, Documentation/networking/proc_net_tcp.rst
 */
const listening = `my ($part, @listening) = ('');
my %state = ('0A' => 'LISTEN', '01' => 'ESTABLISHED', '08' => 'CLOSE_WAIT');
sub a { my ($address, $port) = split /:/, $_[0]; join(' ', join('.', reverse map hex, $address =~ /../g), hex $port) }
sub s { my @f = split ' ', $_[0]; join ' ', a($f[1]), $state{$f[3]}, $f[3] eq '0A' ? '*.*' : a($f[2]) =~ s/ /./r }
open my $tcp, '<:unix', '/proc/net/tcp' or exit 1;
TABLE: while (sysread $tcp, $part, 150, length $part) {
  while ($part =~ s/^(.*)\\n//) {
    my $line = $1;
    next if $line =~ /local_address/;
    my $state = (split ' ', $line)[3];
    last TABLE if $state ne '0A' && !$whole;
    push @listening, $line if $state =~ ($whole ? '^0[18]' : '^0A');
  }
}
`;

/**
 * Finds the listening sockets of the node's processes in /proc: reads the inodes of all listening sockets, then
 * searches the open files of processes with the node's mark. Loopback ports of this machine are printed under their
 * names on the node.
 */
const listenersOnLinux = `my ($root, $mark, $whole) = @ARGV;
my (%port, %name, %seen);
${listening}for my $line (@listening) {
  my @f = split ' ', $line;
  $port{$f[9]} = &s($line);
}
opendir my $all, '/proc' or exit 1;
# Behind a zero byte, so that the first entry has one before it as well; in room that is made once.
my $text = "\\0";
for my $id (grep /^[0-9]+$/, readdir $all) {
  open my $environ, '<:unix', "/proc/$id/environ" or next;
  sysread $environ, $text, 1 << 20, 1 or next;
  next if index($text, "\\0${markVariable}=$mark\\0") < 0;
  opendir my $files, "/proc/$id/fd" or next;
  for my $link (map readlink("/proc/$id/fd/$_"), readdir $files) {
    $seen{$port{$1}} = 1 if $link && $link =~ /^socket:\\[([0-9]+)\\]$/ && $port{$1};
  }
}
`;

/** The same for a node with its own network, without port 22, because the remote login line is printed separately. */
const listenersAlone = `my ($root, undef, $whole) = @ARGV;
my (%name, %seen);
${listening}for my $line (@listening) {
  my $socket = &s($line);
  $seen{$socket} = 1 if (split ' ', $socket)[1] != 22;
}
`;

/** The same on a Mac, with lsof. */
const listenersOnMac = `my ($root, $mark, $whole) = @ARGV;
my (%name, %seen);
my @pids = map { /^ *([0-9]+) .*\\b${markVariable}=\\Q$mark\\E( |$)/ ? $1 : () } qx(ps -axwwE -o pid=,command=);
push @pids, map { /pid = ([0-9]+)/ ? $1 : () } map { open my $f, '<', $_ or (); <$f> } glob "\\"$root/.sim/launchd/*\\"";
if (@pids) {
  for my $state ($whole ? ('ESTABLISHED', 'CLOSE_WAIT') : 'LISTEN') {
    for (split /\\n/, qx(lsof -nP -a -iTCP -sTCP:$state -Fn -p @{[join ',', @pids]} 2>/dev/null)) {
      next unless /^n([0-9.*]+):([0-9]+)(?:->([0-9.]+):([0-9]+))?$/;
      $seen{join ' ', $1 eq '*' ? '0.0.0.0' : $1, $2, $state, defined $3 ? "$3.$4" : '*.*'} = 1;
    }
  }
}
`;

/** Prints columns as wide as macOS's `netstat` (inet.c of network_cmds). Remote login is always listed. */
const listenerLines = `if (open my $names, '<', "$root${linkNamesPath}") {
  while (<$names>) { $name{$1} = $2 if /^([0-9]+) (\\S+)/ }
}
my @local = $whole ? () : (['*.22', '*.*', 'LISTEN']);
for my $one (sort keys %seen) {
  my ($address, $number, $state, $far) = split / /, $one;
  my $known = $address eq '127.0.0.1' ? $name{$number} : undef;
  $address = '*' if $address eq '0.0.0.0';
  push @local, [defined $known ? $known =~ s/:/./r : "$address.$number", $far, $state];
}
print 'Active Internet connections', $whole ? '' : ' (including servers)', "\\n";
printf "%-5s %-6s %-6s  %-22s %-22s %-11s\\n", 'Proto', 'Recv-Q', 'Send-Q', 'Local Address', 'Foreign Address', '(state)';
printf "%-5s %6d %6d  %-22s %-22s %-11s\\n", 'tcp4', 0, 0, @$_ for @local;
`;

function listeners({ isBsd, programs }: WrapperContext): string {
  if (programs !== undefined) return listenersAlone;
  return isBsd ? listenersOnMac : listenersOnLinux;
}

const netstatBody = (context: WrapperContext): string => `case $#:$* in
('3:-rn -f inet') exec /bin/cat "$R"${shellQuote(routesPath)} ;;
('5:-an -f inet -p tcp') whole= ;;
('5:-n -f inet -p tcp') whole=1 ;;
(*) refused '' ;;
esac
exec ${shellQuote(context.host)} -e ${shellQuote(listeners(context) + listenerLines)} "$R" "$${markVariable}" "$whole"`;

/** Redirects all other hosts to the port of tcpmux, which is closed everywhere. */
const noOtherHost = 'set -- "$@" --connect-to ::127.0.0.1:1\n';

/** Certificate authority of the servers in `webPath`; without this file, curl uses the authorities of this machine. */
const authorityPath = '/.sim/ca';

/**
 * Reads curl's configuration from standard input: lines such as `header = "Authorization: Bearer secret"` and `url =
 * "https://..."`. The lines stay in a shell variable and reach curl on its standard input, so that a secret in them
 * never appears in arguments, environments or files. The list of URLs omits the query, which signs a download.
 *
 * @see curl 8.7.1, docs/cmdline-opts/config.md: within quotes, a backslash precedes a quote or a backslash
 */
const configFunctions = `broken() {
  refused 'option -K: error encountered when reading a file'
}
escaped() {
  w=$1
  while :; do
    z=\${w%%[\\\\\\"]*}
    [ "$z" != "$w" ] || return 0
    w=\${w#"$z"}
    case $w in (\\\\[\\\\\\"]*) w=\${w#??} ;; (*) broken ;; esac
  done
}
configured() {
  c=
  while IFS= read -r t || [ -n "$t" ]; do
    v=\${t#*\\"} v=\${v%\\"}
    escaped "$v"
    case $t in
      ('header = "'[!@]*:*'"') ;;
      ('url = "http://'*'"' | 'url = "https://'*'"')
        case $v in (*\\\\*) broken ;; esac
        [ -z "$u" ] || refused 'only one URL is supported'
        u=\${v%%\\?*} ;;
      (*) broken ;;
    esac
    c="$c$t
"
  done
}
`;

/** Checks the format of curl's `-w`. */
const formatFunction = `reported() {
  w=$1
  case $w in (@*) refused 'option -w: simulated without a file' ;; esac
  while :; do
    case $w in (*%*) w=\${w#*%} ;; (*) return 0 ;; esac
    case $w in
      (%*) w=\${w#%} ;;
      ('{http_code}'* | '{time_total}'* | '{size_download}'* | '{num_redirects}'* | '{url_effective}'* | '{stderr}'*) ;;
      ('header{'[A-Za-z]*'}'*) ;;
      (*) refused "unknown --write-out variable: '%$w'" ;;
    esac
  done
}
`;

/** Checks curl's options and their arguments. */
const curlBody = ({ host, programs }: WrapperContext): string => `${configFunctions}${formatFunction}u= k= n=$#
while [ "$n" -gt 0 ]; do
  o=$1 v=\${2-}
  shift; n=$((n - 1))
  case $o in
    (-[qfsSLNI] | -[qfsSLNI][qfsSLNI]*) case $o in (*[!qfsSLNI-]*) refused "option $o: is unknown" ;; esac; set -- "$@" "$o" ;;
    (-m | --connect-timeout | --speed-limit | --speed-time | --limit-rate | --retry | --max-filesize | --proto | --proto-redir | -C | -r | -o | -D | -H | -K | --data-binary | -w | -X | --noproxy)
      [ "$n" -gt 0 ] || refused "option $o: requires parameter"
      shift; n=$((n - 1))
      case $o:$v in
        (-m:*[!0-9.]* | --connect-timeout:*[!0-9.]* | --speed-*:*[!0-9]* | --limit-rate:*[!0-9]* | --retry:*[!0-9]* | --max-filesize:*[!0-9]*) refused "option $o: expected a proper numerical parameter" ;;
        (--proto*:=https | --proto*:=http,https) ;; (--proto*:*) refused "option $o: unsupported protocol list $v" ;;
        (-C:-) ;; (-C: | -C:*[!0-9]*) refused "option $o: expected a proper numerical parameter" ;;
        (-r:*[!0-9-]* | -r:*-*-* | -r:-*) refused "option $o: unsupported range $v" ;; (-r:*-*) ;; (-r:*) refused "option $o: unsupported range $v" ;;
        (-X:GET | -X:POST | -X:DELETE) ;; (-X:*) refused "option $o: unsupported method $v" ;;
        (-o:- | -D:-) ;; (-D:%*) refused "option $o: unsupported file $v" ;; (-[oD]:*) readable "$v" ;;
        (-H:@-) refused "option $o: simulated without standard input" ;; (-H:@*) readable "\${v#@}" ;;
        (-w:*) reported "$v" ;;
        (--data-binary:@-) [ -z "$k" ] || refused 'only one option may read standard input'; k=data ;;
        (--data-binary:@*) readable "\${v#@}" ;;
        (-K:-) [ -z "$k" ] || refused 'only one option may read standard input'; k=config ;;
        (-K:*) refused "option $o: simulated with standard input only" ;;
      esac
      set -- "$@" "$o" "$v" ;;
    (http://* | https://*) [ -z "$u" ] || refused 'only one URL is supported'; u=$o; set -- "$@" "$o" ;;
    (*) refused "option $o: is unknown" ;;
  esac
done
[ "$k" != config ] || configured
[ -n "$u" ] || refused '(2) no URL specified'
printf '%s\\n' "$u" >>"$R${urlsPath}"
[ ! -e "$R${authorityPath}" ] || set -- "$@" --cacert "$R${authorityPath}"
for f in ${programs === undefined ? `"$R${linkTablePath}" ` : ''}"$R${webPath}"; do
  [ -e "$f" ] || continue
  while read -r q v; do
    set -- "$@" --connect-to "$q:$v"
    case $q in (127.0.0.1:*) set -- "$@" --connect-to "localhost:\${q#*:}:$v" ;; esac
  done <"$f"
done
${programs === undefined ? noOtherHost : ''}${roomFunctions}[ "$k" = config ] || limited ${shellQuote(host)} "$@"
limited ${shellQuote(host)} "$@" <<CONFIG
$c
CONFIG`;

/** ssh's options, each exactly once, and the Mac's values for them. */
const sshBody = ({ host }: WrapperContext): string => `f= t= i= o= c= p= u=
while [ $# -gt 2 ]; do
  case $1:\${2-} in
    (-F:/dev/null) f=$f.; shift 2 ;;
    (-T:*) t=$t.; shift ;;
    (-i:*) inside "$2"; i=$2; shift 2 ;;
    (-c:aes128-gcm@openssh.com) c=$c.; shift 2 ;;
    (-p:) refused "Bad port ''" ;;
    (-p:*[!0-9]*) refused "Bad port '$2'" ;;
    (-p:*) p=$2; shift 2 ;;
    (-l:?*) u=$2; shift 2 ;;
    (-o:BatchMode=yes | -o:IdentitiesOnly=yes | -o:IdentityAgent=none | -o:PreferredAuthentications=publickey | \\
      -o:StrictHostKeyChecking=yes | -o:GlobalKnownHostsFile=/dev/null | -o:HostKeyAlias=?* | -o:UpdateHostKeys=no | \\
      -o:ConnectTimeout=[0-9]* | -o:ServerAliveInterval=[0-9]* | -o:LogLevel=ERROR) ;;
    (-o:UserKnownHostsFile=*) inside "\${2#*=}" ;;
    (*) refused "unknown option -- $1 \${2-}" ;;
  esac
  case $1 in (-o) o="$o $2"; shift 2 ;; esac
done
[ $# = 2 ] && [ "$2" = /usr/bin/false ] || refused 'only the command /usr/bin/false is simulated'
[ "$f$t$c" = ... ] && [ -n "$i" ] && [ -n "$u" ] && [ -n "$p" ] || refused 'an option is missing'
for q in BatchMode IdentitiesOnly StrictHostKeyChecking GlobalKnownHostsFile HostKeyAlias UserKnownHostsFile; do
  case $o in (*" $q="*) ;; (*) refused "the option $q is missing" ;; esac
done
# A cable leads to a place on this machine; other addresses are those of this machine itself.
q=
while read -r h v; do [ "$h" != "$1:$p" ] || q=\${v##*:}; done <"$R${linkTablePath}"
case $1:$q in (127.0.0.1:) q=$p ;; (*:) echo "ssh: connect to host $1 port $p: Operation timed out" >&2; exit 255 ;; esac
set -f
set -- -l "$u" 127.0.0.1
for h in $o; do set -- -o "$h" "$@"; done
exec ${shellQuote(host)} -F /dev/null -T -i "$i" -c aes128-gcm@openssh.com -p "$q" "$@" /usr/bin/false`;

export const networkTools: readonly ToolRow[] = [
  {
    path: '/usr/bin/ssh',
    source: from.published('ssh(1) and ssh_config(5) of OpenSSH 9.9, as macOS 15 and later have it'),
    forms:
      '-F /dev/null -T -i file -o BatchMode=yes -o IdentitiesOnly=yes … -c aes128-gcm@openssh.com -p port -l user address /usr/bin/false',
    host: 'ssh',
    usage: 'usage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface] [-b bind_address]',
    code: 255,
    body: sshBody,
  },
  {
    path: '/usr/sbin/netstat',
    source: from.unconfirmed('netstat -an -f inet -p tcp on macOS 26: the columns of listening sockets'),
    forms: '-an -f inet -p tcp | -n -f inet -p tcp | -rn -f inet',
    host: 'perl',
    usage: 'Usage:\tnetstat [-AaLlnW] [-f address_family | -p protocol]',
    code: 64,
    body: netstatBody,
  },
  {
    path: '/usr/bin/curl',
    source: from.published(
      'curl 8.7.1 (SecureTransport) LibreSSL/3.3.6, printed by curl --version on macOS 26.6.2 and 27.0; its manual',
    ),
    forms:
      '[-qfsSLNI] [-m s] [--connect-timeout s] [--speed-limit n] [--speed-time s] [--limit-rate n] [--retry n] [--max-filesize n] [--proto =list] [--proto-redir =list] [-C -|n] [-r a-b] [-o file] [-D file|-] [-H text|@file] [-K -] [--data-binary @file|@-] [-w format] [-X GET|POST|DELETE] [--noproxy list] URL',
    usage: "curl: try 'curl --help' or 'curl --manual' for more information",
    code: 2,
    body: curlBody,
  },
];
