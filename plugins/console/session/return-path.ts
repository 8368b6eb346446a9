// Address after the sign-in: an address of the console that the person asked for, or the page of their account.

/** A path of the console; undefined for anything else. It is parsed as browsers do, so that `//host` and `\` cannot lead elsewhere. */
export function returnPathOf(text: string): string | undefined {
  const here = 'https://console.invalid';
  const url = text.length <= 1_024 && URL.canParse(text, here) ? new URL(text, here) : undefined;
  return url?.origin === here && /^\/ui\/v1(?:\/|$)/.test(url.pathname) ? `${url.pathname}${url.search}` : undefined;
}
