// Status of a certificate now.
import type { ComponentChildren } from 'preact';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { said } from '../../language/language.ts';
import type { CertificateState } from './state.ts';

const tones: Readonly<Record<CertificateState['status'], Tone>> = { valid: 'good', expired: 'quiet', revoked: 'bad' };

/** The states of a certificate in words. */
export const statusWords: Readonly<Record<CertificateState['status'], string>> = {
  valid: said('valid'),
  expired: said('expired'),
  revoked: said('revoked'),
};

export function StatusBadge({ status }: Pick<CertificateState, 'status'>): ComponentChildren {
  return <Chip tone={tones[status]}>{statusWords[status]}</Chip>;
}
