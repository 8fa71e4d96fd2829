import { createHash } from 'node:crypto'
import { chuck, juergen, openScript, type Script } from './script.ts'

export const longComment = `Initial check-in\r\n\r\n${'A comment that is longer than eighty characters. '.repeat(30)}`

/** A project with every feature, and another one beside it. */
export function tellStory(): Script {
  return openScript()
    .checkIn('', (desk) => desk.folder('$/Alpha').folder('$/Beta'))
    .checkIn(longComment, (desk) => {
      desk.folder('$/Alpha/Main').folder('$/Alpha/Main/Empty').put('$/Beta/elsewhere.txt', 'beta')
      for (let index = 0; index < 130; index++) desk.put(`$/Alpha/Main/src${index % 5}/File${index}.cs`, `class C${index} {}\r\n`)
      desk
        .put('$/Alpha/Main/naïve ünï.txt', Buffer.from('latin-1: \xfc', 'latin1'))
        .put('$/Alpha/Main/b.bin', Buffer.from([0, 255, 13, 10]))
      desk
        .put('$/Alpha/Main/nothing.txt', '')
        .put('$/Alpha/Main/Web/web.config', '<xml/>')
        .put('$/Alpha/Main/same.txt', 'class C1 {}\r\n')
    })
    .checkIn('Branched from $/Alpha/Main', (desk) => desk.branch('$/Alpha/Main', '$/Alpha/Dev'), chuck)
    .checkIn('two branches at once', (desk) => desk.put('$/Alpha/Main/a.txt', 'main').put('$/Alpha/Dev/a.txt', 'dev'), juergen)
    .checkIn('folder renamed', (desk) => desk.rename('$/Alpha/Main/src1', '$/Alpha/Main/source1'))
    .checkIn('folder renamed, of which only the folder is told', (desk) => {
      desk.rename('$/Alpha/Main/src2', '$/Alpha/Main/source2', { listed: false })
    })
    .checkIn('renamed, and nothing is said of the source', (desk) => {
      desk.rename('$/Alpha/Main/src3', '$/Alpha/Main/source3', { sources: false })
    })
    .checkIn('file renamed and edited', (desk) =>
      desk.rename('$/Alpha/Main/a.txt', '$/Alpha/Main/Docs/b.txt', { edit: 'changed' }),
    )
    .checkIn('swapped', (desk) => desk.swap('$/Alpha/Main/source1/File1.cs', '$/Alpha/Main/source1/File6.cs'))
    .checkIn('another folder in the place of one that was renamed, of which nothing more is said', (desk) => {
      desk
        .rename('$/Alpha/Main/src0', '$/Alpha/Main/source0', { listed: false, sources: false })
        .put('$/Alpha/Main/src0/new.cs', 'n')
    })
    .checkIn('case of a file', (desk) => desk.rename('$/Alpha/Main/source1/File1.cs', '$/Alpha/Main/source1/FILE1.cs'))
    .checkIn('case of a folder', (desk) => desk.rename('$/Alpha/Main/source1', '$/Alpha/Main/Source1'))
    .checkIn('case of a folder, of which only the folder is told', (desk) => {
      desk.rename('$/Alpha/Main/source2', '$/Alpha/Main/SOURCE2', { listed: false })
    })
    .checkIn('case of a file and of a folder, and nothing is said of what they were called', (desk) => {
      desk.rename('$/Alpha/Main/b.bin', '$/Alpha/Main/B.bin', { origin: false })
      desk.rename('$/Alpha/Main/Web', '$/Alpha/Main/WEB', { origin: false, listed: false })
    })
    .checkIn('edited by another name', (desk) => {
      desk
        .put('$/alpha/MAIN/source1/file1.CS', 'edited')
        .put('$/Alpha/main/SOURCE1/New.cs', 'new')
        .put('$/alpha/main/EMPTY/x', 'x')
    })
    .checkIn('deleted', (desk) => desk.remove('$/Alpha/Main/source3').remove('$/alpha/main/B.BIN'))
    .checkIn('undeleted', (desk) => desk.undelete('$/Alpha/Main/source3'))
    .checkIn('a file becomes a folder', (desk) => desk.remove('$/Alpha/Main/nothing.txt').put('$/Alpha/Main/nothing.txt/x', 'x'))
    .checkIn('and again a file', (desk) => desk.remove('$/Alpha/Main/nothing.txt').put('$/Alpha/Main/nothing.txt', 'file'))
    .checkIn('deleted and made anew', (desk) => desk.remove('$/Alpha/Main/Docs').put('$/Alpha/Main/docs/New.md', '# New'))
    .checkIn('only in the other project', (desk) => desk.put('$/Beta/elsewhere.txt', 'more'))
    .checkIn('link', (desk) =>
      desk.link('$/Alpha/Main/link', 'docs/New.md').put('$/Alpha/Main/.git/config', 'evil').put('$/Alpha/Main/GIT~1', 'evil'),
    )
    .checkIn('rolled back', (desk) => {
      desk.rollback('$/Alpha/Main/same.txt', 2).rollback('$/Alpha/Main/b.bin', 2).rollback('$/Alpha/Main/source1/New.cs', 2)
    })
    .checkIn('property', (desk) => desk.property('$/Alpha/Main/Web').property('$/Alpha/Main/same.txt'))
    .checkIn(
      'work in Dev',
      (desk) => desk.put('$/Alpha/Dev/dev.txt', 'dev').put('$/Alpha/Dev/a.txt', 'dev 2').remove('$/Alpha/Dev/src4'),
      chuck,
    )
    .checkIn('Merge Dev to Main', (desk) => desk.merge('$/Alpha/Dev', '$/Alpha/Main'))
    .checkIn('branch of a branch', (desk) => desk.branch('$/Alpha/Dev', '$/Alpha/Features/One', { at: 25, listed: false }))
    .checkIn('feature', (desk) => desk.put('$/Alpha/Features/One/one.txt', 'one'))
    .checkIn('merged into Dev', (desk) => desk.merge('$/Alpha/Features/One', '$/Alpha/Dev'))
    .checkIn('feature deleted', (desk) => desk.remove('$/Alpha/Features/One'))
    .checkIn('from elsewhere', (desk) => desk.branch('$/Beta', '$/Alpha/Main/Beta', { object: false }))
    .checkIn('moved away', (desk) => desk.rename('$/Alpha/Main/Beta', '$/Beta/Alpha'))
    .checkIn('file moved away, and nothing is said of the source', (desk) => {
      desk.put('$/Alpha/Main/mark.txt', 'm').rename('$/Alpha/Main/same.txt', '$/Beta/same.txt', { sources: false })
    })
    .checkIn('outside of branches', (desk) => desk.put('$/Alpha/notes.txt', 'notes'))
    .checkIn('', (desk) => desk.put('$/Alpha/Main/last.txt', 'last'))
}

export function blobOf(data: Buffer): string {
  return createHash('sha1').update(`blob ${data.length}\0`).update(data).digest('hex')
}

/** The expected files in the format of git, without those that git refuses. */
export function treeOf(script: Script, folder: string, id: number): string[] {
  const files = [...script.filesOf(folder, id)].filter(([path]) => !/(^|\/)(\.git|git~1)(\/|$)/i.test(path))
  const lines = files.map(
    ([path, { data, symlink }]) => `${symlink ? '120000' : '100644'} ${blobOf(data ?? Buffer.alloc(0))} ${path}`,
  )
  return lines.sort()
}
