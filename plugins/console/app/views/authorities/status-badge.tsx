// Status of a certificate now.
import type { ComponentChildren } from 'preact';
import { Chip, type Tone } from '../../parts/chip.tsx';
import type { CertificateState } from './state.ts';

const tones: Readonly<Record<CertificateState['status'], Tone>> = { valid: 'good', expired: 'quiet', revoked: 'bad' };

export function StatusBadge({ status }: Pick<CertificateState, 'status'>): ComponentChildren {
  return <Chip tone={tones[status]}>{status}</Chip>;
}
