import { isUtf8 } from 'node:buffer'

/** Subversion wants UTF-8, but old repositories have whatever was typed: then it is most likely this. */
const western = new TextDecoder('windows-1252')

export function decodeText(bytes: Buffer): string {
  const text = isUtf8(bytes) ? bytes.toString() : western.decode(bytes)
  return text.replaceAll('\0', '')
}
