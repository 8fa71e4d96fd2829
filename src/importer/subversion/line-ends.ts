import { maxRemarks, type Verification } from '#importer/source.ts'
import type { Traits } from './gitattributes.ts'

type Style = NonNullable<Traits['eol']>

/** In paths. More are not counted. */
const maxFound = 1_000_000

/**
 * Finds files whose stored line ends are not those of their `svn:eol-style`. Subversion repairs them when it writes a working copy or an
 * export; git has them as they are stored.
 */
export function openLineEnds(style: Style) {
  let differs = false
  /** A CR at the end of a piece, whose LF is in the next one. */
  let carried = ''
  return {
    take(piece: Buffer) {
      if (differs) return
      if (style !== 'CRLF') differs = piece.includes(style === 'CR' ? '\n' : '\r')
      else {
        const text = carried + piece.toString('latin1')
        carried = text.endsWith('\r') ? '\r' : ''
        differs = /(?<!\r)\n|\r(?!\n|$)/.test(text)
      }
    },
    differ: () => differs || carried !== '',
  }
}

/** Counts paths of all branches and tags once, and lists the first. */
export function openLineEndReport() {
  const found = new Map<string, Style>()
  return {
    add(path: string, style: Style) {
      if (found.size < maxFound) found.set(path, style)
    },
    complete(result: Verification) {
      if (found.size === 0) return
      result.notes = { ...result.notes, 'files with other line ends than svn:eol-style asks for': found.size }
      result.remarks = [...found]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, maxRemarks)
        .map(([path, style]) => ({ what: 'other line ends', path, text: `svn:eol-style ${style}` }))
    },
  }
}
