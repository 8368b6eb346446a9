// The part of nodemailer that is used here, narrower than its own types.
declare module 'nodemailer' {
  export type Mail = {
    readonly from: string;
    readonly to: readonly string[];
    readonly subject: string;
    readonly text: string;
    readonly messageId: string;
    readonly headers: Readonly<Record<string, string>>;
  };

  export function createTransport(options: object): {
    sendMail(mail: Mail): Promise<{ readonly rejected: readonly string[] }>;
  };
}
