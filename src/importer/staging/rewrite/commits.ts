import type { CorrectLine } from './author-lines.ts'

export interface Changes {
  /** The new id of an object; undefined if it does not change. */
  replace(id: string): string | undefined
  correct: CorrectLine | undefined
}

/** The rewritten commit; undefined if nothing changes, so that it keeps its id. */
export function rewriteCommit(data: Buffer, changes: Changes): Buffer | undefined {
  return rewrite(data, changes, (message) => message)
}

/** The signature of a tag is at the end of its message. */
export function rewriteTag(data: Buffer, changes: Changes): Buffer | undefined {
  return rewrite(data, changes, withoutSignature)
}

function rewrite(data: Buffer, { replace, correct }: Changes, clean: (message: Buffer) => Buffer): Buffer | undefined {
  const end = endOfHeader(data)
  const lines = data.toString('latin1', 0, end).split('\n')
  const changed = new Map<number, string>()
  let corrected = false
  for (const [index, line] of lines.entries()) {
    const field = line.slice(0, line.indexOf(' '))
    if (field === 'tree' || field === 'parent' || field === 'object') {
      const id = replace(line.slice(field.length + 1))
      if (id) changed.set(index, `${field} ${id}`)
    } else if (field === 'author' || field === 'committer' || field === 'tagger') {
      const other = correct?.(line)
      if (!other) continue
      changed.set(index, other)
      corrected = true
    }
  }
  if (!changed.size) return undefined
  const recode = corrected ? recoding(lines) : undefined
  const written: string[] = []
  let dropped = false
  for (const [index, line] of lines.entries()) {
    // A line that begins with a space continues the one before.
    if (!line.startsWith(' ')) dropped = signed.test(line) || (recode !== undefined && line.startsWith('encoding '))
    if (!dropped) written.push(changed.get(index) ?? (recode ? recode(Buffer.from(line, 'latin1')).toString('latin1') : line))
  }
  const message = clean(data.subarray(end))
  return Buffer.concat([Buffer.from(written.join('\n'), 'latin1'), recode ? recode(message) : message])
}

function endOfHeader(data: Buffer) {
  const end = data.indexOf('\n\n')
  return end < 0 ? data.length : end
}

/** Signatures do not match a rewritten commit. */
const signed = /^(gpgsig|gpgsig-sha256|mergetag) /

/** Corrected names are in UTF-8, so a commit in another encoding is re-encoded. */
function recoding(lines: string[]): ((bytes: Buffer) => Buffer) | undefined {
  const label = lines.find((line) => line.startsWith('encoding '))?.slice('encoding '.length)
  if (label === undefined) return undefined
  try {
    const decoder = new TextDecoder(label, { ignoreBOM: true })
    return (bytes) => Buffer.from(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

const beginnings = ['PGP SIGNATURE', 'PGP MESSAGE', 'SSH SIGNATURE', 'SIGNED MESSAGE'].map(
  (name) => `\n-----BEGIN ${name}-----\n`,
)

function withoutSignature(message: Buffer) {
  const start = Math.max(...beginnings.map((beginning) => message.lastIndexOf(beginning)))
  return start < 0 ? message : message.subarray(0, start + 1)
}
