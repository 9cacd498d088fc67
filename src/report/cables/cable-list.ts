import { escapeText } from '../../diagnostics/escape.ts';
import type { FleetSurvey, NodeSurvey } from '../../engine/diagnose/survey.ts';
import { type Link, linkEndText } from '../../model/link.ts';
import { speedText } from '../../model/text/units.ts';
import { fitLines, hang, sideBySide } from '../layout.ts';
import type { Page } from '../page.ts';
import { signOf } from './sight-marks.ts';

const margin = '  ';

/** The speed that most cables have is said once, in the title. */
function usualSpeed({ cables }: FleetSurvey): number | undefined {
  const counts = new Map<number, number>();
  for (const { bitsPerSecond } of cables) {
    if (bitsPerSecond !== undefined) {
      counts.set(bitsPerSecond, (counts.get(bitsPerSecond) ?? 0) + 1);
    }
  }
  const [most] = [...counts].toSorted(([a, countOfA], [b, countOfB]) => countOfB - countOfA || b - a);
  return most?.[0];
}

function cableTexts(survey: FleetSurvey, usual: number | undefined, page: Page): readonly string[] {
  const width = Math.max(0, ...survey.cables.map(({ ends }) => linkEndText(ends[0]).length));
  return survey.cables.map(({ ends, sight, bitsPerSecond }: FleetSurvey['cables'][number]) => {
    const speed = bitsPerSecond === undefined || bitsPerSecond === usual ? '' : `  ${speedText(bitsPerSecond)}`;
    const [a, b]: Link['ends'] = ends;
    return `${linkEndText(a).padEnd(width)} ${signOf(sight, page)} ${linkEndText(b)}${speed}`;
  });
}

/** What is plugged in and is no cable between two nodes: docks, foreign Macs, ends that only one side sees. */
function strayLines({ name, receptacles }: NodeSurvey, usual: number | undefined, page: Page): readonly string[] {
  return strays(receptacles).flatMap(({ receptacle, sight, sees, bitsPerSecond }) => {
    const first = `${margin}${name}:${receptacle} ${signOf(sight, page)} `;
    const speed = bitsPerSecond === undefined || bitsPerSecond === usual ? '' : ` at ${speedText(bitsPerSecond)}`;
    return hang(first, `sees ${escapeText(sees)}${speed}`, page.columns);
  });
}

const strays = (receptacles: NodeSurvey['receptacles'] = []): NonNullable<NodeSurvey['receptacles']> =>
  receptacles.filter(({ sight, isInCable }) => !isInCable && sight !== 'empty' && sight !== 'nothing');

/** Every cable that is seen, once, as `studio-1:2 = studio-2:2`, then what else is plugged in; empty when nothing is. */
export function cableLines(survey: FleetSurvey, page: Page): readonly string[] {
  const usual = usualSpeed(survey);
  const width = page.columns - margin.length;
  const cables = sideBySide(cableTexts(survey, usual, page), width).flatMap((line) => fitLines(line, width));
  const others = survey.nodes.flatMap((node) => strayLines(node, usual, page));
  if (cables.length + others.length === 0) {
    return [];
  }
  const isAll =
    survey.cables.every(({ bitsPerSecond }) => bitsPerSecond === usual) &&
    survey.nodes.every(({ receptacles }) => strays(receptacles).every(({ bitsPerSecond }) => bitsPerSecond === usual));
  const told = isAll ? `all at ${speedText(usual ?? 0)}` : `${speedText(usual ?? 0)} unless another speed is shown`;
  const speed = usual === undefined ? '' : ` (${told})`;
  return [
    ...hang(margin, `Cables seen${speed}`, page.columns).map((line) => page.paint('strong', line)),
    ...cables.map((line) => `${margin}${line}`),
    ...others,
  ];
}
