// Names of fields, lists and actions in the language of the page, where they are not spelled from those of the API. The build of another
// language has a module of its own in place of this one.

export const fieldNames: Readonly<Record<string, string>> = {};
