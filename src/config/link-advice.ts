const end = '([A-Za-z0-9][A-Za-z0-9-]{0,62}):([0-9]{1,2})';
const looseLink = new RegExp(`^${end} {0,9}([-<>=~\u2013\u2014\u2190\u2192\u2194\u21d4]{1,4}|to) {0,9}${end}$`);

/** How a link should be written, told from what is wrong with it; undefined when it is no link at all. */
export function linkAdvice(text: string): string | undefined {
  const match = looseLink.exec(text);
  if (match === null) return undefined;
  const [, first = '', from = '', arrow = '', second = '', to = ''] = match;
  const ends = `${first.toLowerCase()}:${from} <-> ${second.toLowerCase()}:${to}`;
  const isLower = !/[A-Z]/.test(first + second);
  const fromZero = [from, to].some((receptacle) => /^0+$/.test(receptacle));
  const advice = [
    ...(arrow === '<->' ? [] : ['Write `<->` between the two ends.']),
    ...(isLower ? [] : ['Names are lower-case.']),
    ...(fromZero ? ['Receptacles count from 1, as macOS prints them.'] : []),
  ];
  if (advice.length === 0) return undefined;
  return `${advice.join(' ')}${fromZero ? '' : ` Here: \`${ends}\`.`}`;
}
