import type { JobArgs, ScriptArgs } from '../../../model/node-script.ts';
import { serviceValues } from '../../../node/launchd-service.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import { below, pathWord, tool } from '../../../node/paths/node-paths.ts';
import {
  accountHome,
  accountTemporary,
  goldenFile,
  mostLogBytes,
  olderRankLog,
  placementFolder,
  preparedMark,
  rankFile,
  rankLog,
  rankServiceLabel,
  serviceFile,
} from '../../../node/paths/own-paths.ts';
import { fileSeal } from '../../../node/put-file.ts';
import { wiredFunction, wiredValues } from '../../../node/wired-memory.ts';
import { sh } from './scripts.generated.ts';

/** The number of checks in a period, at four per second. */
const checksIn = (ms: number): number => Math.ceil(ms / 250);

const ofService = (placement: string) => serviceValues(rankServiceLabel(placement));

const ofRank = (placement: string) => ({ ...ofService(placement), ...wiredValues, folder: placementFolder(placement) });

const linesOf = (values: object): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

export const bootstrapRank = ({ record, request, user, ...rest }: ScriptArgs['bootstrap-rank']): string =>
  wiredFunction +
  sh.bootstrapRank(
    {
      ...ofRank(record.placement),
      plist: serviceFile(record.placement),
      log: rankLog(record.placement),
      most_log_bytes: mostLogBytes,
      record: linesOf(record),
      request,
      user,
      home: accountHome(user),
      temporary: accountTemporary(user),
      job: rest.job ?? '',
    },
    [
      ...rest.files.flatMap((name) => ['file', name, '']),
      ...rest.links.flatMap(({ name, to }) => ['link', name, to]),
      ...rest.folders.flatMap(({ name, keeps }) => [keeps ? 'lasting' : 'folder', name, '']),
      ...(rest.prepared ?? []).flatMap((name) => ['prepared', name, '']),
    ],
  );

/** The shell is the parent of the account's program, and `end_preparations` finds it by the word after the script. */
const parentScript = '"$@"; exit $?';

export const prepareRank = ({ placement, key, name, account, env, argv }: JobArgs['prepare-rank']): string => {
  const data = rankFile(placement, name);
  return sh.prepareRank(
    {
      ...refusalValues,
      account,
      home: accountHome(account),
      temporary: accountTemporary(account),
      folder: placementFolder(placement),
      data,
      mark: preparedMark(placement, name),
      digest: key,
    },
    [
      ...Object.entries(env).map(([variable, value]) => [`${variable}=`, ...value]),
      tool.sh,
      '-c',
      parentScript,
      ['meshwright-prepare:', data],
      ...argv,
    ],
  );
};

/** Stores the golden answer and its speed next to the leader's record. */
export function keepGolden({ placement, golden }: ScriptArgs['keep-golden']): string {
  const file = pathWord(goldenFile(placement));
  return `[ -e ${pathWord(below(placementFolder(placement), 'record'))} ] || failed no-record 'the rank has no record: it was not prepared'
v='${linesOf(golden)}'
if [ -e ${file} ] && [ "$(${pathWord(tool.cat)} ${file})" = "$v" ]; then unchanged; fi
write ${file} "$v$N"
changed`;
}

export const kickRank = (args: ScriptArgs['kick-rank']): string =>
  wiredFunction +
  sh.kickRank({
    ...ofRank(args.placement),
    ...refusalValues,
    generation: args.generation,
    user: args.user ?? '',
    log: rankLog(args.placement),
    transport: args.transport,
    takes: args.takes ?? 1,
    seconds: Math.ceil(args.startMs / 1_000),
    last_talked: args.lastTalked ?? '',
    reload: args.isReload === true,
  });

export const continueRank = ({ placement }: ScriptArgs['continue-rank']): string =>
  sh.continueRank(ofService(placement));

export const stopRank = (args: ScriptArgs['stop-rank']): string =>
  wiredFunction +
  sh.stopRank({
    ...ofRank(args.placement),
    interrupt: checksIn(args.interruptMs ?? 0),
    grace: checksIn(Math.max(args.graceMs, args.patienceMs ?? 0)),
    before_reboot: args.beforeReboot === true,
    outcome: args.outcome ?? '',
  });

export function removeRank({ placement }: ScriptArgs['remove-rank']): string {
  const plist = serviceFile(placement);
  const files = [plist, fileSeal(plist), rankLog(placement), olderRankLog(placement), placementFolder(placement)];
  return sh.removeRank({ ...ofService(placement), folder: placementFolder(placement) }, files);
}
