// Labels of entries and selectors of labels, in the form of requests, answers and command lines.

/** Short names and values that people give to entries, to find and to group them. They are not secret and decide nothing. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Names and values are those of Kubernetes, but for the prefix of names: a slash separates the fields of containers here (`fields`,
 * `hide-fields`, `allowed-values`), so a domain is written `example.com.team`.
 */
export const labelName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
export const labelValue = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
export const labelNameRule = 'must be 1 to 63 letters, digits, ".", "_" and "-", with a letter or digit at both ends';
export const labelValueRule = 'must be empty, or 1 to 63 letters, digits, ".", "_" and "-", with a letter or digit at both ends';
/** of one entry */
export const mostLabels = 64;

export const selectorRule = 'must be labels such as team=a,env=prod, each name once';

/** Labels that an entry must all have. */
export class Selector {
  readonly #wanted: readonly (readonly [name: string, value: string])[];

  private constructor(wanted: readonly (readonly [name: string, value: string])[]) {
    this.#wanted = wanted;
  }

  /** Parses `team=a,env=prod`; undefined for anything else, also for an empty list, so that nothing selects every entry by mistake. */
  static parse(text: string): Selector | undefined {
    const wanted = text.split(',').map((part) => {
      const [name = '', ...value] = part.split('=');
      return [name, value.join('=')] as const;
    });
    const isSound = text.split(',').every((part) => part.includes('=')) && wanted.every(([name, value]) => isLabel(name, value));
    const names = new Set(wanted.map(([name]) => name));
    return isSound && names.size === wanted.length && names.size <= mostLabels ? new Selector(wanted) : undefined;
  }

  matches(labels: unknown): boolean {
    if (typeof labels !== 'object' || labels === null) return false;
    return this.#wanted.every(([name, value]) => Object.hasOwn(labels, name) && (labels as Labels)[name] === value);
  }

  toString(): string {
    return this.#wanted.map((label) => label.join('=')).join(',');
  }
}

function isLabel(name: string, value: string): boolean {
  return labelName.test(name) && labelValue.test(value);
}
