import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadImport } from '#parts/imports/import-store.ts'
import { expect } from '#test/forge.ts'
import { begin, openRuns, run } from '#test/imports/runs.ts'
import { attributeFiles, tellAttributes } from '#test/imports/svn-attribute-history.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import { ignoreFiles, tellIgnores } from '#test/imports/svn-ignore-history.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { originOf } from './ledger.ts'

for (const { option, history, made, file, note, count, added, line, remarks } of [
  {
    option: 'svn_ignore',
    history: tellIgnores,
    made: ignoreFiles['heads/main'],
    file: '.gitignore',
    note: 'ignore lists turned into .gitignore',
    count: 8,
    added: ['mkdir', 'trunk/later', 'propset', 'svn:ignore', '*.later', 'trunk/later'],
    line: '/*.later\n',
    remarks: [],
  },
  {
    option: 'gitattributes',
    history: tellAttributes,
    made: attributeFiles['heads/main'],
    file: '.gitattributes',
    note: 'lists of attributes left out for a .gitattributes of the source',
    count: 3,
    added: ['mkdir', 'trunk/later', 'put', '/dev/null', 'trunk/later/x.c', 'propset', 'svn:eol-style', 'LF', 'trunk/later/x.c'],
    line: '/*.c text=auto eol=lf\n',
    remarks: [{ what: 'other line ends', path: 'mixed.txt', text: 'svn:eol-style native' }],
  },
] as const)
  test(`${option} makes ${file} files, also of what comes later, until the option changes`, async () => {
    await using runs = await openRuns({ BELFRY_IMPORT_KEEP: '1' })
    const { forge, ada, root } = runs
    await using folder = await openSvnFolder()
    const source = join(folder.path, 'mill')
    await makeSvnRepository(source, history)
    await using server = await startSvnserve(folder.path)
    await using _ = run(forge)
    const vcs_url = `${server.url}mill`
    await ada.owns('refused')
    const { message } = await expect(422, await ada.put('/repos/ada/refused/import', { vcs_url, [option]: 'yes' }))
    assert.equal(message, `Invalid request.\n\nFor 'properties/${option}', "yes" is not a boolean.`)

    const { path, repo, reaches } = await begin(ada, 'mill', { vcs_url, [option]: true })
    const read = async (name: string) => {
      const { content } = await ada.read(`/repos/ada/mill/contents/${name}`)
      return Buffer.from(content, 'base64').toString()
    }
    const check = async (chosen: boolean) => {
      assert.equal((await reaches('complete'))[option], chosen ? true : undefined)
      const { notes, remarks: listed, mismatches } = await ada.read(`${path}/report`)
      assert.deepEqual(mismatches, [])
      assert.deepEqual(listed, remarks)
      assert.equal((notes[note] ?? 0) >= count, chosen)
      if (chosen) assert.equal(await read(file), made?.[file])
      else await expect(404, await ada.get(`/repos/ada/mill/contents/${file}`))
      return notes[note]
    }
    assert.equal(await check(true), count)
    const before = await loadImport(forge.belfry.db, repo)
    const [stage = ''] = await readdir(root)
    const inode = async () => (await stat(join(root, stage, 'stage.git', 'HEAD'))).ino
    const first = await inode()
    execFileSync('svnmucc', ['--message', 'Later', '--root-url', `file://${source}`, ...added])
    for (const [change, chosen] of [
      [{}, true],
      [{ [option]: false }, false],
      [{}, false],
      [{ [option]: true }, true],
    ] as const) {
      assert.equal((await expect(200, await ada.patch(path, change)))[option], chosen ? true : undefined)
      // The folder of one option cannot be reused for the other.
      assert.equal(originOf(await loadImport(forge.belfry.db, repo)) === originOf(before), chosen)
      await check(chosen)
      if (chosen) assert.equal(await read(`later/${file}`), line)
      if (Object.keys(change).length === 0 && chosen) assert.equal(await inode(), first, 'it did not start over')
    }
  })
