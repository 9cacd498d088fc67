import type { Facts, InstalledFile, KeeperObservation } from '../../model/facts/fact-values.ts';
import { andThen, type Known, mapKnown } from '../../model/known.ts';
import { dayOf } from '../../model/text/units.ts';
import { keeperData, keeperLabel, keeperPlist, keeperProgram } from '../../node/paths/keeper-files.ts';
import { launchdServices } from '../../node/probes/launchd-services.ts';
import { readStoredRecords } from '../../node/probes/stored-records.ts';
import { installedFiles, storedRecords } from '../../node/probes/stored-records-scripts.ts';
import { defineFact, readValue } from '../fact.ts';
import { filesFact } from '../records/files-fact.ts';
import { servicesFact, unreadableState } from '../records/services-fact.ts';

const ownPaths: readonly string[] = [keeperProgram.path, keeperData.path, keeperPlist.path];

export const keeperFact = defineFact({
  name: 'keeper',
  from: [installedFiles, launchdServices, storedRecords],
  parse: ([fileAnswer, serviceAnswer, recordsAnswer], asked): Known<KeeperObservation> => {
    return andThen(filesFact.parse([fileAnswer], asked), (files) =>
      andThen(servicesFact.parse([serviceAnswer], asked), (services) => {
        const { state = 'not-loaded' } = services.find(({ label }) => label === keeperLabel) ?? {};
        if (state === 'unknown') return unreadableState(keeperLabel);
        return mapKnown(readStoredRecords(recordsAnswer), ({ keeper: { last, hashed, refused } }) => ({
          files: files.filter(({ path }) => ownPaths.includes(path)),
          isLoaded: state !== 'not-loaded',
          isRefused: refused !== undefined,
          ...(last !== undefined && last !== '' && { lastChange: last }),
          ...(hashed !== undefined && hashed !== '' && { hashed: hashedVersions(hashed) }),
        }));
      }),
    );
  },
  source: 'launchctl print system/dev.meshwright.keeper',
  text: ({ files, isLoaded, isRefused, lastChange, hashed = [] }) => [
    files.length === 0 && !isLoaded ? 'none' : `${isLoaded ? 'loaded' : 'not loaded'}, ${fileStates(files)}`,
    ...(lastChange === undefined ? [] : [`last change: ${lastChange}`]),
    ...hashed.map((one) => `model ${one.model}, version ${one.version}: ${hashedText(one)}`),
    ...(isRefused ? ['macOS let no ssh session change the network preferences'] : []),
  ],
});

const fileStates = (files: readonly InstalledFile[]): string =>
  files.map(({ path, state }) => `${path.slice(path.lastIndexOf('/') + 1)} ${state}`).join(', ') || 'no files';

type HashedVersion = NonNullable<KeeperObservation['hashed']>[number];

const hashedText = ({ atEpochSeconds, isComplete }: HashedVersion): string =>
  isComplete ? `hashed on ${dayOf(atEpochSeconds * 1_000)}` : `unreadable on ${dayOf(atEpochSeconds * 1_000)}`;

/** Words of any other form are skipped: a power loss may have damaged the file. */
const hashedVersions = (line: string): readonly HashedVersion[] =>
  line.split(' ').flatMap((word): HashedVersion[] => {
    const form = /^([A-Za-z0-9._-]{1,255})\/([0-9a-f]{16})([=!])(\d{1,11})$/;
    const [, model, version, sign, at] = form.exec(word) ?? [];
    if (model === undefined || version === undefined) return [];
    return [{ model, version, atEpochSeconds: Number(at), isComplete: sign === '=' }];
  });

/**
 * True if the keeper has not finished its first round since the Mac started or since the keeper was installed. That
 * round restores what macOS undid. A round that hangs stops itself, so this state lasts less than a minute.
 *
 * @see `launchctl print`: last exit code = (never exited)
 */
export const isKeeperDue = (facts: Facts): boolean =>
  readValue(facts, keeperFact)?.isLoaded === true &&
  readValue(facts, servicesFact)?.some(
    ({ label, lastExit }) => label === keeperLabel && lastExit === '(never exited)',
  ) === true;
