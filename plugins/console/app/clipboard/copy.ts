// Copies a text for the person. A secret does not stay in the clipboard.

/** Time for a person to paste a secret. */
const emptyAfterMs = 60_000;
let emptying: ReturnType<typeof setTimeout> | undefined;

/** Rejects where the browser does not allow it. A secret is taken out of the clipboard a minute later. */
export async function copyText(text: string, isSecret = false): Promise<void> {
  await navigator.clipboard.writeText(text);
  noteCopied(isSecret);
}

/** The last copy counts: what was copied after a secret, here or by hand on the page, stays. */
function noteCopied(isSecret: boolean): void {
  clearTimeout(emptying);
  emptying = isSecret ? setTimeout(() => void empty(), emptyAfterMs) : undefined;
}

/** Browsers let only a page write that has the focus: otherwise it happens when the person comes back. */
async function empty(): Promise<void> {
  const awaited = emptying;
  try {
    await navigator.clipboard.writeText('');
  } catch {
    addEventListener('focus', () => emptying === awaited && void empty(), { once: true });
  }
}

addEventListener('copy', () => noteCopied(false));
