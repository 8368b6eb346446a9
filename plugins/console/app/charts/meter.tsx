// Used part of a limit, or what is left of something, as a bar with its words.
import type { ComponentChildren } from 'preact';

export type MeterProps = {
  readonly share: number;
  readonly label: ComponentChildren;
  /** true if the share is what is left: little is then what a person looks at */
  readonly isOfRest?: boolean;
};

export function Meter({ share, label, isOfRest = false }: MeterProps): ComponentChildren {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <span class="meter">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class={!isOfRest && filled >= 90 ? 'filled much' : 'filled'} width={filled} height={6} />
      </svg>
      <span>{label}</span>
    </span>
  );
}
