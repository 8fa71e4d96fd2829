import { type Reading, runGit } from './run-git.ts'

/** A signature, and the text that it signs. */
export interface SignedText {
  signature: string
  /** Null if it is too long to be shown. */
  payload: string | null
}

/** Bytes. A longer commit is shown without the text that its signature signs. */
const longestPayload = 1 << 16
/** Bytes of all commits of a page. Those after it are shown as unsigned. */
const readLimit = 1 << 24

const payloadOf = (text: string) => (text.length > longestPayload ? null : text)

/** The signature of a commit is a header of several lines, and signs the rest. */
export function splitCommit(text: string): SignedText | undefined {
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end + 1)
  const found = /^gpgsig (.*\n(?: .*\n)*)/m.exec(head)
  if (!found) return undefined
  const [lines, signature = ''] = found
  const rest = head.slice(0, found.index) + head.slice(found.index + lines.length) + text.slice(head.length)
  return { signature: signature.replaceAll('\n ', '\n'), payload: payloadOf(rest) }
}

/** The signature of a tag is the end of its text. */
export function splitTag(text: string): SignedText | undefined {
  const at = text.search(/^-----BEGIN (PGP|SSH) SIGNATURE-----/m)
  return at < 0 ? undefined : { signature: text.slice(at), payload: payloadOf(text.slice(0, at)) }
}

/** The signatures of those commits that have one. `git log` would verify them to show them, and start a program for each. */
export async function readSignatures({ path, ...bounds }: Reading, shas: string[]): Promise<Map<string, SignedText>> {
  const signed = new Map<string, SignedText>()
  if (!shas.length) return signed
  const input = shas.map((sha) => `${sha}\n`).join('')
  const { output } = await runGit(path, ['cat-file', '--batch'], { ...bounds, input, limit: readLimit })
  for (let at = 0; at < output.length; ) {
    const line = output.indexOf(10, at)
    const [sha = '', , size = '0'] = output.toString('latin1', at, line < 0 ? output.length : line).split(' ')
    const begin = line + 1
    const end = begin + Number(size)
    if (line < 0 || !(end <= output.length)) break
    const text = output.toString('utf8', begin, end)
    const found = splitCommit(text)
    if (found) signed.set(sha, found)
    at = end + 1
  }
  return signed
}
