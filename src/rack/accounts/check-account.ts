import { digestOf, shortDigest } from '../../model/digest.ts';
import type { AccountCheck } from '../../model/node-script.ts';
import { bootstrapped, serviceFunctions } from '../../node/launchd-service.ts';
import { accountFolders, refuseRoot } from '../../node/owner-word.ts';
import { pathWord, programFolders, tool } from '../../node/paths/node-paths.ts';
import { accountChecked, accountCheckFolder, accountEnvironment } from '../../node/paths/own-paths.ts';
import { leftAloneExit, rdmaKernelScript, rdmaPortsScript } from '../../node/probes/network-scripts.ts';
import { quote } from '../../node/quote.ts';
import { sh } from '../../node/shell/scripts.generated.ts';

/** The service that runs the tests; launchd forgets it when it has ended. */
const checkLabel = 'dev.meshwright.check';

/** Polls for the end of the tests, five per second. */
const polls = 300;

/** An answer is one line, with the last line that a program printed: `failed KEY: WORDS`, or `busy` to try again later. */
const answers = `N='
'
passed() { printf 'passed %s\\n' "$1"; }
refused() { printf '%s %s: %s\\n' "$1" "$2" "\${3##*"$N"}"; }
wants() { case " $q " in (*" $1 "*) ;; (*) return 1 ;; esac; }
`;

const homeTest = `if wants home; then
  if x=$({ true >"$HOME/.check"; } 2>&1); then
    ${pathWord(tool.rm)} -f "$HOME/.check"
    passed home
  else
    refused failed home "$x"
  fi
fi
`;

/** What the root script saw on this node, one path per line. The folders above may be closed to the account. */
const filesTest = (key: string): string => `if wants ${key}; then
  z=''
  while IFS= read -r x; do
    [ -r "$x" ] || [ -x "$x" ] || z=$x
  done <"\${0%/*}/paths" || z='the list of what it reads'
  if [ -z "$z" ]; then
    passed ${key}
  else
    refused failed ${key} "the account cannot read $z"
  fi
fi
`;

const unknownDevices = `! wants rdma || refused busy rdma 'the ssh user sees no RDMA device here'
`;

/** The kernel is read first: no verbs tool starts while another has not returned, or while a rank starts. */
const rdmaTest = (devices: readonly string[]): string =>
  devices.length === 0
    ? unknownDevices
    : `if wants rdma; then
  (${rdmaKernelScript}
) >kernel 2>&1
  o=$( (${rdmaPortsScript}
) 2>&1)
  c=$?
  if [ "$c" -eq ${leftAloneExit} ]; then
    refused busy rdma "$o"
  else
    m=$N$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} '$1 == "hca_id:" { print $2 }')$N
    z=''
${devices
  .map((device) => `    case $m in (*"$N"${quote(device)}"$N"*) ;; (*) z="$z "${quote(device)} ;; esac\n`)
  .join('')}    if [ -n "$z" ]; then
      [ "$c" -eq 0 ] || z="$z: \${o##*"$N"}"
      refused failed rdma "the account cannot open$z"
    elif [ "$c" -ne 0 ]; then
      refused failed rdma "\${o:-ibv_devinfo exited with $c}"
    else
      passed rdma
    fi
  fi
fi
`;

function gpuTest({
  argv: [program, ...words],
  shows,
  builtFor,
  digest,
  env,
}: NonNullable<AccountCheck['gpu']>): string {
  const set = Object.entries(env).map(([key, value]) => `${key}=${quote(value)} `);
  const matches = (pattern: string): string =>
    `printf '%s\\n' "$o" | ${pathWord(tool.awk)} -v "q=${pattern}" '$0 ~ q { f = 1 } END { exit !f }'`;
  return `if wants gpu-${digest}; then
  o=$(${set.join('')}${[pathWord(program), ...words.map(quote)].join(' ')} 2>&1)
  c=$?
  if [ "$c" -ne 0 ]; then
    refused failed gpu-${digest} "\${o:-the runtime exited with $c}"
  elif ${matches(shows)}; then
    passed gpu-${digest}
${
  builtFor === undefined
    ? ''
    : `  elif ! ${matches(builtFor)}; then
    passed gpu-${digest}
`
}  else
    refused failed gpu-${digest} 'the runtime finds no GPU'
  fi
fi
`;
}

/** Other paths are another test. */
const filesKey = (reads: AccountCheck['reads']): string =>
  `files-${shortDigest(digestOf(reads.map(({ path }) => path)))}`;

/** Runs as the account, with the environment of ranks; `$1` is the root prefix, `$2` the keys of the tests. */
function program({ name, devices, reads, gpu }: AccountCheck): string {
  const set = Object.entries({ ...accountEnvironment(name) }).map(([key, path]) => `export ${key}=${pathWord(path)}\n`);
  const path = programFolders.map((folder) => `$R${folder.path}`).join(':');
  return `R=$1 q=$2
export R LC_ALL=C PATH="${path}"
${set.join('')}cd "$TMPDIR" || exit
${answers}${homeTest}${reads.length === 0 ? '' : filesTest(filesKey(reads))}${devices === undefined ? '' : rdmaTest(devices)}${gpu === undefined ? '' : gpuTest(gpu)}`;
}

/** The property list as a word of sh. @see launchd.plist(5): a job with RunAtLoad is started once, when it is loaded */
const propertyList = (name: string): string =>
  quote(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>${checkLabel}</string>
	<key>ProgramArguments</key>
	<array>
		<string>@R${tool.sh.path}</string>
		<string>@d/program</string>
		<string>@R</string>
		<string>@q</string>
	</array>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>RunAtLoad</key>
	<true/>
	<key>StandardErrorPath</key>
	<string>@d/answers</string>
	<key>StandardOutPath</key>
	<string>@d/answers</string>
	<key>UserName</key>
	<string>${name}</string>
</dict>
</plist>
`).replaceAll(/@([Rdq])/g, `'"$$$1"'`);

const pathsFile = (reads: AccountCheck['reads']): string =>
  reads.length === 0
    ? ''
    : `x=''
for y in ${reads.map(pathWord).join(' ')}; do
  [ ! -e "$y" ] || x=$x$y$N
done
write "$d/paths" "$x"
`;

/**
 * Fails where an account can become root, or where a LaunchDaemon of it fails a test of what ranks do: write its home, read
 * their files, open the RDMA devices that the ssh user sees, reach the GPU. Over ssh an account may have other rights. The
 * results are kept with the build of macOS. A test that was passed runs again only for another build, another number of the
 * account, or another version of a runtime. A failed test runs each time; its line begins with `!`.
 *
 * @see docs/unverified.md: nothing is published about RDMA devices and accounts without administrator rights
 */
export function checkAccount(check: AccountCheck): string {
  const { name, devices, reads, gpu } = check;
  const keys = [
    'home',
    ...(reads.length === 0 ? [] : [filesKey(reads)]),
    ...(devices === undefined ? [] : ['rdma']),
    ...(gpu === undefined ? [] : [`gpu-${gpu.digest}`]),
  ];
  return `${refuseRoot(name)}${serviceFunctions(checkLabel)}
${sh.ownLog({})}
${sh.ownFolder({})}
d=${pathWord(accountCheckFolder(name))} f=${pathWord(accountChecked(name))}
x=$(${pathWord(tool.swVers)} -buildVersion 2>&1) || failed no-build "$x"
y=$(${pathWord(tool.id)} -u ${quote(name)} 2>&1) || failed no-account "$y"
h="build=$x uid=$y" r=''
[ ! -e "$f" ] || r=$(${pathWord(tool.cat)} "$f")
case $r$N in ("$h$N"*) ;; (*) r=$h ;; esac
q=''
for k in ${keys.join(' ')}; do
  case $r$N in (*"$N$k$N"*) ;; (*) q="$q $k" ;; esac
done
[ -n "$q" ] || unchanged
r=$(printf '%s\\n' "$r" | ${pathWord(tool.awk)} -v "q=$q " '!/^!/ || !index(q, " " substr($0, 2) " ")')
if look; then
  bootout
fi
must rm ${pathWord(tool.rm)} -rf "$d"
must mkdir ${pathWord(tool.mkdir)} -p "$d"
${accountFolders(name)}write "$d/program" ${quote(program(check))}
${pathsFile(reads)}p=$d/${checkLabel}.plist
write "$p" ${propertyList(name)}
ownlog "$d/answers" ${quote(name)}
${bootstrapped}
hasrun() {
  look || failed launchctl 'launchctl took the service and does not show it'
  [ -z "$pid" ] || return 1
  case $o in (*'runs = 0'*) return 1 ;; esac
}
n=0 w=''
until hasrun; do
  n=$((n + 1))
  [ "$n" -lt ${polls} ] || {
    w='its tests did not end within ${polls / 5} seconds'
    break
  }
  ${pathWord(tool.sleep)} 0.2
done
bootout
# The account wrote these lines: only the expected ones count, and only so much is read.
a=$N$(${pathWord(tool.head)} -c 8192 "$d/answers" 2>/dev/null)$N
e=''
for k in $q; do
  case $a in
    (*"\${N}passed $k$N"*) r=$r$N$k ;;
    (*"\${N}failed $k: "*) r="$r$N!$k" x=\${a#*"\${N}failed $k: "} e="$e\${e:+; }\${k%%-*}: \${x%%"$N"*}" ;;
    (*"\${N}busy $k: "*) x=\${a#*"\${N}busy $k: "} w=\${w:-\${x%%"$N"*}} ;;
    (*) w=\${w:-no answer for \${k%%-*}} ;;
  esac
done
must rm ${pathWord(tool.rm)} -rf "$d"
write "$f" "$r$N"
[ -z "$e" ] || failed account-unfit "the account ${name} fails here: $e"
[ -z "$w" ] || failed account-untested "the account ${name} could not be tested: $w"
changed`;
}
