// Values with which another page of this application opens a form. They are in no address, so that no link of others fills in a form.

let next: { readonly path: string; readonly values: Readonly<Record<string, string>> } | undefined;

/** Sets the values for the form that makes an entry of a list, for the click that leads there. */
export function prepareForm(path: string, values: Readonly<Record<string, string>>): void {
  next = { path, values };
}

/** The values for this form, once; none if another form was opened meanwhile. */
export function takePrepared(path: string): ReadonlyMap<string, string> {
  const found = next?.path === path ? Object.entries(next.values) : [];
  next = undefined;
  return new Map(found);
}
