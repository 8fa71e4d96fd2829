import type { Note, Notes } from '#importer/notes.ts'
import { addRemark, dropRemark, type Remark } from '#importer/source.ts'
import { decodeText } from './decode-text.ts'
import type { DumpRecord } from './dump.ts'
import { openLog, readLog } from './revision-log.ts'

/** In paths. Beyond, a file whose property is set twice is counted twice. */
const maxKnown = 200_000

const counted = { 'svn:keywords': 'files with svn:keywords', 'svn:eol-style': 'files with svn:eol-style' } as const

export interface RemarkOptions {
  notes: Notes
  remarks: Remark[]
  /** The file of counted properties, so that a resumed run does not count them again, and the valid length of it. */
  file: string
  length: number
}

/** Notes the properties that have no equivalent in git. Contents stay as Subversion stores them. */
export function openRemarks({ notes, remarks, file, length }: RemarkOptions) {
  const known = new Set(readLog(file, length))
  const log = openLog(file, length)
  const count = (what: Note) => {
    notes[what] = (notes[what] ?? 0) + 1
  }
  return {
    read(revision: number, path: string, { headers, properties }: DumpRecord) {
      if (!properties) return
      const externals = properties.get('svn:externals')
      if (externals) {
        count('external definitions')
        addRemark(remarks, { what: 'external definition', path, text: decodeText(externals).trim(), revision })
      } else if (externals === null) dropRemark(remarks, 'external definition', path)
      if (headers.get('Node-kind') === 'dir') return
      for (const [name, what] of Object.entries(counted)) {
        const entry = JSON.stringify([name, path])
        if (!properties.get(name) || known.has(entry)) continue
        if (known.size < maxKnown) {
          known.add(entry)
          log.write([name, path])
        }
        count(what)
      }
    },
    flush: log.flush,
    close: log.close,
  }
}
