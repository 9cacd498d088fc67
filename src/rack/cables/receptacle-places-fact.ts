import type { FactsReceptaclePlaces } from '../../model/documents.generated.ts';
import { andThen, type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';
import { sh } from './scripts.generated.ts';

/** The lines of the I/O registry that show where on the case each receptacle is. @see ioreg(8) */
export const receptacleLocations = probe(
  'receptacle-locations',
  [tool.sh, '-c', sh.receptacleLocations({})],
  5_000,
  65_536,
);

/** A port controller (`hpm0`) with its place and the Thunderbolt controller that it belongs to. */
interface Connector {
  readonly location: string;
  readonly handle: string;
}

/** A Thunderbolt controller (`acio0`) with the number of the receptacle below it. */
interface Controller {
  readonly handle: string;
  readonly receptacle: number;
}

/**
 * Each receptacle's place on the case, from the Mac's device tree. The keys are undocumented, so a relation that is not
 * one to one makes the fact unknown. The fact is optional: its absence causes no finding.
 */
export const receptaclePlacesFact = defineFact({
  name: 'receptacle-places',
  from: [receptacleLocations],
  parse: ([answer]): Known<FactsReceptaclePlaces> =>
    andThen(readRegistryPaths(answer), (paths) => {
      const alone = paths.filter((path) => path.length === 1);
      if (alone.length === 0) return unknown('empty', "This Mac's device tree has no port-location.");
      const connectors = alone.flatMap(([node]) => connectorOf(node));
      const controllers = paths.flatMap((path) => (path.length === 1 ? [] : [controllerOf(path)]));
      const places = joined(connectors, controllers);
      return places === undefined ? garbled(answer, 'does not map each place to one receptacle') : places;
    }),
  text: (places) => [places.map(({ receptacle, location }) => `${receptacle} ${location}`)],
});

/** Empty for a port without a Thunderbolt controller, such as MagSafe; undefined if a value has an unexpected form. */
function connectorOf({ properties }: RegistryNode): readonly (Connector | undefined)[] {
  const location = textOf(properties.get('port-location'));
  const parent = properties.get('acio-parent');
  if (parent === undefined && location !== undefined) return [];
  const handle = handleOf(parent);
  const isPlace = /^[a-z]+(?:-[a-z]+){0,3}$/.test(location ?? '');
  return [location === undefined || handle === undefined || !isPlace ? undefined : { location, handle }];
}

function controllerOf(path: RegistryPath): Controller | undefined {
  const above = path.filter(({ name }) => /^acio\d+$/.test(name));
  const handle = handleOf(above[0]?.properties.get('AAPL,phandle'));
  const receptacle = numberOf(path.at(-1)?.properties.get('IOLocation'));
  return above.length !== 1 || handle === undefined || receptacle === undefined ? undefined : { handle, receptacle };
}

/** Leaves out receptacles without a place and places of USB ports. Undefined if one occurs twice or nothing matches. */
function joined(
  connectors: readonly (Connector | undefined)[],
  controllers: readonly (Controller | undefined)[],
): Known<FactsReceptaclePlaces> | undefined {
  const fits = isEachOnce(connectors, ['handle', 'location']) && isEachOnce(controllers, ['handle', 'receptacle']);
  if (!fits) return undefined;
  const places = connectors.flatMap((connector) => {
    const controller = controllers.find((one) => one?.handle === connector?.handle);
    return connector === undefined || controller === undefined
      ? []
      : [{ receptacle: controller.receptacle, location: connector.location }];
  });
  return places.length === 0 ? undefined : known(places.toSorted((a, b) => a.receptacle - b.receptacle));
}

function isEachOnce<T>(items: readonly (T | undefined)[], keys: readonly (keyof T)[]): items is readonly T[] {
  return (
    keys.every((key) => new Set(items.map((item) => item?.[key])).size === items.length) && !items.includes(undefined)
  );
}

/** Decodes a text in the registry: either `"right"` or its bytes, `<726967687400>`. */
function textOf(value = ''): string | undefined {
  const [, text, bytes] = /^(?:"([\x20-\x7e]*)"|<((?:[2-7][0-9a-f])+)(?:00)*>)$/.exec(value) ?? [];
  return text ?? (bytes === undefined ? undefined : Buffer.from(bytes, 'hex').toString('latin1'));
}

/** The four bytes of a handle, as printed. */
const handleOf = (value = ''): string | undefined => /^<([0-9a-f]{8})>$/.exec(value)?.[1];

/** A number from 1 to 99: the text `"5"`, or with `-x` the number `0x5`. */
function numberOf(value = ''): number | undefined {
  const [, text, digits] = /^(?:"([1-9]\d?)"|0x([1-9a-f][0-9a-f]?))$/.exec(value) ?? [];
  const number = text === undefined ? Number.parseInt(digits ?? '', 16) : Number(text);
  return number >= 1 && number <= 99 ? number : undefined;
}

/** One node of the I/O registry, with the requested properties as `ioreg -x` prints them. */
interface RegistryNode {
  readonly name: string;
  readonly properties: ReadonlyMap<string, string>;
}

/** A chain of nodes, each below the previous: from the first node that `ioreg -r` prints to the last. */
type RegistryPath = readonly [RegistryNode, ...RegistryNode[]];

// `  +-o acio0@1F00000  <class AppleARMIODevice, id 0x10000021c, registered, matched, active, busy 0, retain 9>`
const nodeForm = /^((?:[ |] )*)\+-o (\S(?:.*\S)?) {2}<class [\w.]+(?:, [\w!() ]+)*>$/;
// `  |   "AAPL,phandle" = <93000000>`
const propertyForm = /^((?:[ |] )+)"(port-location|acio-parent|AAPL,phandle|IOLocation)" = (\S.*)$/;

/** Reads the paths in ioreg's text output, each without branches. Any other text is garbled. */
function readRegistryPaths(answer: Answer | undefined): Known<readonly RegistryPath[]> {
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  if (lines.value.at(-1) !== 'end') return unknown('truncated', 'The list of registry nodes is incomplete.');
  const paths: RegistryNode[][] = [];
  for (const line of lines.value.slice(0, -1)) {
    const path = paths.at(-1) ?? [];
    const isRead = addNode(paths, path, line) || addProperty(path, line);
    if (!isRead) return garbled(answer, 'printed a line that is neither the next node of a path nor a property');
  }
  return known(paths as unknown as readonly RegistryPath[]);
}

function addNode(paths: RegistryNode[][], path: RegistryNode[], line: string): boolean {
  const [, indent, place = ''] = nodeForm.exec(line) ?? [];
  if (indent === undefined) return false;
  const node = { name: place.replace(/@[0-9A-Fa-f,]+$/, ''), properties: new Map<string, string>() };
  if (indent === '') paths.push([node]);
  else if (indent.length === 2 * path.length) path.push(node);
  else return false;
  return true;
}

/** Properties are indented three steps deeper than their node; none may occur twice. */
function addProperty(path: readonly RegistryNode[], line: string): boolean {
  const [, indent = '', key = '', value = ''] = propertyForm.exec(line) ?? [];
  const properties = path.at(-1)?.properties as Map<string, string> | undefined;
  if (properties === undefined || indent.length !== 2 * (path.length + 2) || properties.has(key)) return false;
  properties.set(key, value);
  return true;
}
