// Presence of a person: repeated requests to the appliance stop when nobody looks, so that the session can end by itself.
import { signal, type ReadonlySignal } from '@preact/signals';

/** Time without a key, a pointer or a scroll after which nobody is present. */
const patienceMs = 5 * 60_000;

const isHere = signal(true);
let leaving: ReturnType<typeof setTimeout> | undefined;

/** True while the tab is seen and something was done in it within five minutes. */
export const presence: ReadonlySignal<boolean> = isHere;

function note(): void {
  clearTimeout(leaving);
  isHere.value = !document.hidden;
  leaving = setTimeout(() => {
    isHere.value = false;
  }, patienceMs);
}

for (const event of ['pointerdown', 'pointermove', 'keydown', 'scroll']) addEventListener(event, note, { passive: true });
document.addEventListener('visibilitychange', note);
note();
