// Takes an answer of octets piece by piece, so that a page can show how much is there, and keeps it out of the script's memory.
import { open, type Request } from './request.ts';
import { locale } from '../language/language.ts';

/** Pieces are put into one Blob when they have so many octets: browsers keep large ones on the disk. */
const gatheredBytes = 16 * 1024 * 1024;

/** `totalBytes`: 0 where the answer does not say. */
export type Downloaded = { readonly doneBytes: number; readonly totalBytes: number };

/** The octets of an answer. Rejects with Refusal, with AbortError after `signal`, and with Error when the answer ended before its length. */
export async function download(request: Request, onProgress: (downloaded: Downloaded) => void, signal: AbortSignal): Promise<Blob> {
  const response = await open(request, signal);
  const totalBytes = Number(response.headers.get('content-length') ?? 0);
  const whole: Blob[] = [];
  let gathered: Uint8Array<ArrayBuffer>[] = [];
  let [doneBytes, lately] = [0, 0];
  for await (const piece of piecesOf(response)) {
    gathered.push(piece);
    doneBytes += piece.length;
    lately += piece.length;
    if (lately >= gatheredBytes) {
      whole.push(new Blob(gathered));
      [gathered, lately] = [[], 0];
    }
    onProgress({ doneBytes, totalBytes });
  }
  if (totalBytes > 0 && doneBytes !== totalBytes)
    throw new Error(
      `The answer ended after ${doneBytes.toLocaleString(locale)} of ${totalBytes.toLocaleString(locale)} octets: it is not complete.`,
    );
  return new Blob([...whole, ...gathered], { type: 'application/octet-stream' });
}

/** Streams are not iterable in every browser that works otherwise. */
async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece?.value === undefined) return;
    yield piece.value;
  }
}
