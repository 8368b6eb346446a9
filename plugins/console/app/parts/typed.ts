// Values typed into the fields of a form.

/** Name and trimmed text of each field; files are left out. */
export function typedTexts(form: HTMLFormElement): readonly (readonly [name: string, text: string])[] {
  return [...new FormData(form)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value.trim()] as const] : []));
}

/** Attributes of a field whose text is for programs: browsers neither complete nor correct it. */
export const exact = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;
