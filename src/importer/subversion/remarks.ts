import type { Note, Notes } from '#importer/notes.ts'
import { addRemark, dropRemark, type Remark } from '#importer/source.ts'
import { decodeText } from './decode-text.ts'
import type { DumpRecord } from './dump.ts'

/** In paths. Beyond, and after a resumed run, a file whose property is set twice is counted twice. */
const maxKnown = 200_000

const counted = { 'svn:keywords': 'files with svn:keywords', 'svn:eol-style': 'files with svn:eol-style' } as const

/** Notes the properties that have no equivalent in git. Contents stay as Subversion stores them. */
export function openRemarks({ notes, remarks }: { notes: Notes; remarks: Remark[] }) {
  const known = new Set<string>()
  const count = (what: Note) => {
    notes[what] = (notes[what] ?? 0) + 1
  }
  return (revision: number, path: string, { headers, properties }: DumpRecord) => {
    if (!properties) return
    const externals = properties.get('svn:externals')
    if (externals) {
      count('external definitions')
      addRemark(remarks, { what: 'external definition', path, text: decodeText(externals).trim(), revision })
    } else if (externals === null) dropRemark(remarks, 'external definition', path)
    if (headers.get('Node-kind') === 'dir') return
    for (const [name, what] of Object.entries(counted)) {
      const key = `${name} ${path}`
      if (!properties.get(name) || known.has(key)) continue
      if (known.size < maxKnown) known.add(key)
      count(what)
    }
  }
}
