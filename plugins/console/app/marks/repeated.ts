// Something that is done again and again while a page is looked at.
import { useEffect, useRef } from 'preact/hooks';

/** Runs while `isOn`, and not in a tab that nobody sees. */
export function useRepeated(isOn: boolean, everyMs: number, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [isOn, everyMs]);
}
