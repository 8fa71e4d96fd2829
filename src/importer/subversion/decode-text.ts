import { isUtf8 } from 'node:buffer'

/** Old repositories have text that is not UTF-8; it is most often Windows-1252. */
const western = new TextDecoder('windows-1252')

export function decodeText(bytes: Buffer): string {
  const text = isUtf8(bytes) ? bytes.toString() : western.decode(bytes)
  return text.replaceAll('\0', '')
}
