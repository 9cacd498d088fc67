import { apple, lines, type TableTool, unconfirmed } from '../tool.ts';

/** The tool writes its file itself; it is given by its whole path, which may have blanks. */
const body = `p=$1 f=$4
    kill -s 0 "$p" 2>/dev/null || { printf 'sample cannot find an existing process with the id %s\\n' "$p" >&2; exit 1; }
    printf 'Sampling process %s for 1 second with 1 millisecond of run time between samples\\n' "$p" >&2
    { printf 'Analysis of sampling process (pid %s) every 1 millisecond\\n' "$p"
      printf 'Call graph:\\n    831 Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)\\n'; } >"$f" || exit 1
    printf 'Sample analysis of process %s written to file %s\\n' "$p" "$f"
    exit 0`;

/** `sample PID 1 -file FILE`: where the threads of a process are, for one second. */
export const sample: TableTool = {
  kind: 'table',
  path: '/usr/bin/sample',
  rows: () => [],
  patterns: [
    {
      match: "'4:'[1-9]*' 1 -file /'*",
      body,
      source: apple('sample(1) of macOS: sample pid duration -file filename; the text of the analysis is not modelled'),
    },
  ],
  usage: {
    text: lines('usage: sample <pid/partial name> [duration (secs)] [interval (msecs)] [-file filename] [-mayDie]'),
    exitCode: 64,
    source: unconfirmed("sample's usage text and exit code 64"),
  },
};
