// Draws bars with their values as SVG, light and dark, in the colours and the font of the appliance's pages.

/** A horizontal bar. `parts` are drawn one after another, each in the colour of its series. */
export type Bar = {
  readonly parts: readonly { readonly series: number; readonly value: number }[];
  /** after the bar */
  readonly text: string;
};

export type Chart = {
  readonly title: string;
  /** one sentence below the title: unit, and the better direction */
  readonly subtitle: string;
  /** names of the series, by the number that bars use */
  readonly series: readonly string[];
  readonly groups: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
  /** a line at this value, with its name */
  readonly mark?: { readonly value: number; readonly text: string };
};

const width = 760;
const labelWidth = 190;
const textWidth = 130;
const barHeight = 14;
const barGap = 3;
const groupGap = 14;
const top = 92;

/** The appliance first, in the accent of the pages; then the products compared with it. */
const colours = [
  { light: '#0b5c8a', dark: '#6cb8e6' },
  { light: '#8a4b00', dark: '#f0c078' },
  { light: '#8795a5', dark: '#7d8b9a' },
  { light: '#5b9bc0', dark: '#35688a' },
  { light: '#c9d1da', dark: '#47535f' },
] as const;

/** The chart as a file that needs nothing else. */
export function drawBars({ title, subtitle, series, groups, mark }: Chart): string {
  const largest = Math.max(mark?.value ?? 0, ...groups.flatMap(({ bars }) => bars.map(lengthOf)), Number.MIN_VALUE);
  const scale = (value: number): number => round((value / largest) * (width - labelWidth - textWidth));
  const lines: string[] = [];
  let y = top;
  for (const { label, bars } of groups) {
    const middle = y + (bars.length * (barHeight + barGap) - barGap) / 2;
    lines.push(text(labelWidth - 10, middle, label, 'label'));
    for (const bar of bars) {
      let x = labelWidth;
      for (const { series: one, value } of bar.parts) {
        lines.push(`<rect class="s${one}" x="${round(x)}" y="${y}" width="${scale(value)}" height="${barHeight}"/>`);
        x += scale(value);
      }
      lines.push(text(x + 6, y + barHeight / 2, bar.text, 'value'));
      y += barHeight + barGap;
    }
    y += groupGap - barGap;
  }
  const markX = mark === undefined ? 0 : labelWidth + scale(mark.value);
  const marked =
    mark === undefined
      ? []
      : [
          `<line x1="${markX}" x2="${markX}" y1="${top - 6}" y2="${y - groupGap + 4}"/>`,
          text(markX + 4, y - groupGap + 12, mark.text, 'value'),
        ];
  const height = y + (mark === undefined ? 0 : 12);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title subtitle">`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="subtitle">${escape(subtitle)}</desc>`,
    `<style>${styleSheet}</style>`,
    `<rect class="card" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="12"/>`,
    text(20, 28, title, 'title'),
    text(20, 50, subtitle, 'quiet'),
    ...legend(series, new Set(groups.flatMap(({ bars }) => bars.flatMap(({ parts }) => parts.map((part) => part.series))))),
    ...lines,
    ...marked,
    '</svg>',
    '',
  ].join('\n');
}

/** Names of the series that the picture has, in a row. */
function legend(series: readonly string[], drawn: ReadonlySet<number>): readonly string[] {
  let x = 20;
  return series.flatMap((name, at) => {
    if (!drawn.has(at)) return [];
    const entry = [`<rect class="s${at}" x="${x}" y="66" width="10" height="10"/>`, text(x + 15, 71, name, 'quiet')];
    x += 30 + Math.ceil(name.length * 6.6);
    return entry;
  });
}

function lengthOf({ parts }: Bar): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

function text(x: number, y: number, content: string, kind: 'title' | 'quiet' | 'label' | 'value'): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}">${escape(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const fill = (tone: 'light' | 'dark'): string => colours.map((colour, at) => `.s${at}{fill:${colour[tone]}}`).join('');

const styleSheet = [
  'text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;dominant-baseline:central;fill:#17202b}',
  '.title{font-size:16px;font-weight:650}.quiet,.value{fill:#556170}.label{text-anchor:end}',
  '.card{fill:#fff;stroke:#d5dbe2}line{stroke:#8a4b00;stroke-dasharray:4 3}',
  fill('light'),
  '@media (prefers-color-scheme:dark){text{fill:#e7ecf1}.quiet,.value{fill:#9dabba}.card{fill:#19212a;stroke:#33404e}line{stroke:#f0c078}',
  fill('dark'),
  '}',
].join('');
