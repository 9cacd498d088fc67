/** Colours by what they are for; each of the dark page stands out from it as its light twin does. */
const light = {
  paper: '#ffffff',
  ink: '#1d1d1f',
  dim: '#5f5f66',
  box: '#f4f4f6',
  edge: '#7c7c83',
  good: '#1b7a48',
  plan: '#0b5fc0',
  bad: '#c8102e',
  extra: '#8f5200',
  open: '#5f5f66',
};

const dark: typeof light = {
  paper: '#16161a',
  ink: '#f2f2f5',
  dim: '#b0b0b8',
  box: '#26262c',
  edge: '#85858f',
  good: '#4fcf8b',
  plan: '#6cb4ff',
  bad: '#ff6b62',
  extra: '#ffb445',
  open: '#b0b0b8',
};

const declarations = (colours: typeof light): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');

const tones = ['good', 'plan', 'bad', 'extra', 'open'] as const;

/**
 * The style of a drawing. Every rule begins with the class of the drawing, so that none reaches the page that it may
 * stand in; fonts are those of whoever looks.
 */
export const graphStyle = [
  `.mw-rack{${declarations(light)};color-scheme:light dark}`,
  `@media (prefers-color-scheme:dark){.mw-rack{${declarations(dark)}}}`,
  '.mw-rack text{font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif;font-size:11px;fill:var(--ink)}',
  '.mw-rack .paper{fill:var(--paper)}',
  '.mw-rack .heading{font-size:20px;font-weight:600}',
  '.mw-rack .name{font-size:15px;font-weight:600}',
  '.mw-rack .small{fill:var(--dim)}',
  '.mw-rack .foot{font-size:12px}',
  '.mw-rack .number{font-weight:600}',
  '.mw-rack .case{fill:var(--box);stroke:var(--edge);stroke-width:1.5}',
  '.mw-rack .unseen .case{stroke-dasharray:2 4;stroke:var(--open)}',
  '.mw-rack .stray .case{stroke-dasharray:6 4;stroke:var(--extra)}',
  '.mw-rack .socket{fill:var(--paper);stroke:var(--edge);stroke-width:1.5}',
  '.mw-rack .halo{fill:none;stroke:var(--paper);stroke-width:7}',
  '.mw-rack .line{fill:none;stroke-width:2.5;stroke-linecap:round}',
  '.mw-rack .label{fill:var(--paper);stroke-width:1.2}',
  '.mw-rack .mark{font-weight:700;text-anchor:middle}',
  '.mw-rack .unsure{stroke-dasharray:1 6}',
  '.mw-rack .absent{stroke-dasharray:8 6}',
  ...tones.flatMap((tone) => [
    `.mw-rack .${tone} .line,.mw-rack .${tone} .label{stroke:var(--${tone})}`,
    `.mw-rack .${tone} text,.mw-rack text.${tone}{fill:var(--${tone})}`,
    `.mw-rack .socket.${tone}{stroke:var(--${tone})}`,
    `.mw-rack .socket.${tone}.full{fill:var(--${tone})}`,
    `.mw-rack .socket.${tone}.full+.mark{fill:var(--paper)}`,
  ]),
].join('\n');
