// Names of browser and system in the text by which a browser calls itself. The text is the browser's own word, and anybody can send another one.

/** The first that fits: each later one also calls itself as earlier ones do. */
const browsers: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /Edg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chromium', /(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+)[.\d]* .*Safari\//],
];

const systems: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Windows', /Windows/],
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
];

/** `Firefox 128 on Linux`; the beginning of the text itself for others. */
export function programName(text: string): string {
  for (const [name, pattern] of browsers) {
    const [, version] = pattern.exec(text) ?? [];
    if (version === undefined) continue;
    const system = systems.find(([, one]) => one.test(text))?.[0];
    return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`;
  }
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
