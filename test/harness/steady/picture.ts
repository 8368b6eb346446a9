// Draws samples over time, one small diagram for each quantity, as an SVG image.
import type { Sample } from './slope.ts';

const [width, height, margin] = [720, 150, 40] as const;

/** `series` by name, in the order in which they are drawn. */
export function drawSamples(title: string, series: ReadonlyMap<string, readonly Sample[]>): string {
  const diagrams = [...series].map(([name, samples], index) => drawOne(name, samples, margin + index * height));
  const size = `width="${width}" height="${margin + series.size * height}"`;
  const heading = `<text x="10" y="24" font-size="16">${escape(title)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif">\n${heading}\n${diagrams.join('\n')}\n</svg>\n`;
}

function drawOne(name: string, samples: readonly Sample[], top: number): string {
  const values = samples.map(({ value }) => value);
  const most = Math.max(...values, Number.MIN_VALUE);
  const last = samples.at(-1)?.hours ?? 1;
  const points = samples.map(({ hours, value }) => {
    const x = margin + (hours / last) * (width - 2 * margin);
    // From zero, so that what is flat looks flat.
    const y = top + height - 30 - (Math.max(0, value) / most) * (height - 60);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const range = `${Math.min(...values).toPrecision(3)} to ${Math.max(...values).toPrecision(3)}`;
  return [
    `<text x="10" y="${top + 14}" font-size="12">${escape(name)}: ${range}</text>`,
    `<line x1="${margin}" x2="${width - margin}" y1="${top + height - 30}" y2="${top + height - 30}" stroke="#999"/>`,
    `<text x="${width - margin}" y="${top + height - 16}" font-size="10" text-anchor="end">${last.toFixed(2)} h</text>`,
    `<polyline points="${points.join(' ')}" fill="none" stroke="#1a5fb4"/>`,
  ].join('\n');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
