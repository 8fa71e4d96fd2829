/** Null for contents that are not text. */
export function textOf(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** In units of 1,024, as git and editors count. */
export function sizeText(size: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB']
  const power = Math.min(Math.floor(Math.log2(Math.max(size, 1)) / 10), units.length - 1)
  if (power === 0) return size === 1 ? '1 byte' : `${size} bytes`
  return `${(size / 1024 ** power).toFixed(power === 1 && size >= 10_240 ? 0 : 1)} ${units[power]}`
}

/** Types of images that browsers show. */
const images: Record<string, string> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  gif: 'image/gif',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
}

export const imageType = (path: string) => images[/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '']

export interface LfsPointer {
  oid: string
  size: number
}

/** A pointer that Git LFS stores in the place of a large file. */
export function readPointer(text: string): LfsPointer | undefined {
  if (text.length > 1024 || !text.startsWith('version https://git-lfs.github.com/spec/v1\n')) return undefined
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1]
  const size = /^size (\d{1,15})$/m.exec(text)?.[1]
  return oid && size ? { oid, size: Number(size) } : undefined
}
