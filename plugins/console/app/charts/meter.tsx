// Used part of a limit, as a bar with its words.
import type { ComponentChildren } from 'preact';

export function Meter({ share, label }: { readonly share: number; readonly label: string }): ComponentChildren {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div class="meter">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class={filled >= 90 ? 'filled much' : 'filled'} width={filled} height={6} />
      </svg>
      <span>{label}</span>
    </div>
  );
}
