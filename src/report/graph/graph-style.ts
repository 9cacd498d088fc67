/** The literal colors of a drawing on a light page, by what they are for: viewers without CSS show these. */
export const graphColors = {
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
} as const;

/** Each stands out from the dark page as its light twin does from the light one. */
const dark: Readonly<Record<keyof typeof graphColors, string>> = {
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

/** Every literal color of the drawing becomes its dark twin. */
const darkRules = Object.entries(dark)
  .flatMap(([name, color]) =>
    ['fill', 'stroke'].map(
      (key) => `.mw-rack [${key}="${graphColors[name as keyof typeof graphColors]}"]{${key}:${color}}`,
    ),
  )
  .join('');

/**
 * The style of a drawing: its fonts, line widths and dark page. Its light colors are attributes of the elements, because
 * few viewers besides browsers know CSS variables. Every rule begins with the class of the drawing, so that none reaches
 * the page around it.
 */
export const graphStyle = [
  '.mw-rack{color-scheme:light dark}',
  `@media (prefers-color-scheme:dark){${darkRules}}`,
  '.mw-rack text{font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif;font-size:11px}',
  '.mw-rack .heading{font-size:20px;font-weight:600}',
  '.mw-rack .name{font-size:15px;font-weight:600}',
  '.mw-rack .foot{font-size:12px}',
  '.mw-rack .number{font-weight:600}',
  '.mw-rack .case{stroke-width:1.5}',
  '.mw-rack .unseen .case{stroke-dasharray:2 4}',
  '.mw-rack .stray .case{stroke-dasharray:6 4}',
  '.mw-rack .socket{stroke-width:1.5}',
  '.mw-rack .halo{stroke-width:7}',
  '.mw-rack .line{stroke-width:2.5;stroke-linecap:round}',
  '.mw-rack .label{stroke-width:1.2}',
  '.mw-rack .mark{font-weight:700;text-anchor:middle}',
  '.mw-rack .unsure{stroke-dasharray:1 6}',
  '.mw-rack .absent{stroke-dasharray:8 6}',
].join('\n');
