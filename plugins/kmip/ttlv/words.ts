// Tables as rows of words: names that are numbered one after another.

/** The words of a text that are parted by one space. */
export type Words<Text extends string, Seen = never> = Text extends `${infer Word} ${infer Rest}` ? Words<Rest, Seen | Word> : Seen | Text;

/** Numbers the words of rows; each row begins with the number before the colon. */
export function numbered(rows: Readonly<Record<number, string>>): readonly (readonly [name: string, value: number])[] {
  return Object.entries(rows).flatMap(([first, words]) =>
    words.split(' ').map((name, index): readonly [string, number] => [name, Number(first) + index]),
  );
}
