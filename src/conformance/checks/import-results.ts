import { at } from '../answer.ts'
import { importAuthor, sourceImport } from '../resources.ts'
import { listOf } from '../shape.ts'
import { complete, startImport } from './import-source.ts'
import { imports } from './imports.ts'

const prefix = '/repos/{owner}/{repo}/import'

imports.check(
  'imports.authors',
  `GET ${prefix}/authors`,
  [
    '200 array of author; 404, 503',
    'id integer, remote_id string, remote_name string, email string, name string, url string, import_url string.',
  ],
  async (context) => {
    const { path } = await complete(context)
    const answer = (await context.me.get(`${path}/authors`)).is(200).matches(listOf(importAuthor))
    answer.must(answer.list().length > 0, 'at least one author', answer.text)
  },
)

imports.check(
  'imports.authors.since',
  `GET ${prefix}/authors`,
  ['query: since integer (only authors with an id greater than this)'],
  async (context) => {
    const { path } = await complete(context)
    const ids = (await context.me.get(`${path}/authors`))
      .is(200)
      .items()
      .map((row) => Number(row.id))
    const all = (await context.me.get(`${path}/authors?since=${Math.min(...ids) - 1}`)).is(200)
    all.equals(
      'the authors since before the first',
      all.list().map((row) => row.id),
      ids,
    )
    const answer = (await context.me.get(`${path}/authors?since=${Math.max(...ids)}`)).is(200)
    answer.equals('the authors after the last', answer.list(), [])
  },
)

imports.check(
  'imports.authors.map',
  `PATCH ${prefix}/authors/{author_id}`,
  [
    '200 author; 404, 422, 503',
    'Authors may be updated at any time before new commits are pushed to the repository.',
    'Callers correct it by mapping.',
  ],
  async (context) => {
    const { path } = await complete(context)
    const [author] = (await context.me.get(`${path}/authors`)).is(200).list()
    const answer = (
      await context.me.patch(`${path}/authors/${author?.id}`, { name: 'Corrected', email: 'corrected@example.com' })
    )
      .is(200)
      .matches(importAuthor)
    answer
      .equals('name', at(answer.row(), 'name'), 'Corrected')
      .equals('email', at(answer.row(), 'email'), 'corrected@example.com')
  },
)

imports.check(
  'imports.authors.unknown',
  `PATCH ${prefix}/authors/{author_id}`,
  ['200 author; 404, 422, 503'],
  async (context) => {
    const { path } = await complete(context)
    ;(await context.me.patch(`${path}/authors/1${Date.now()}`, { name: 'Corrected' })).is(404)
  },
)

imports.check('imports.large-files', `GET ${prefix}/large_files`, ['200 array of large file; 503'], async (context) => {
  const { path } = await complete(context)
  const answer = (await context.me.get(`${path}/large_files`)).is(200)
  answer.equals('the large files of a small repository', answer.list(), [])
})

imports.check(
  'imports.large-files.counted',
  `GET ${prefix}`,
  ['files larger than 100MB found', 'Large file threshold in imports | 100MB'],
  async (context) => {
    const { answer } = await complete(context)
    answer.equals('has_large_files', answer.row().has_large_files, false)
    answer.equals('large_files_count', answer.row().large_files_count, 0)
  },
)

for (const choice of ['opt_in', 'opt_out'])
  imports.check(
    `imports.lfs.${choice.replace('_', '-')}`,
    `PATCH ${prefix}/lfs`,
    [
      `Update Git LFS preference use_lfs=${choice}`,
      'opt_in stores large files with Git LFS, opt_out removes them during import',
      '200 Import; 422, 503',
    ],
    async (context) => {
      const { path } = await startImport(context)
      const answer = (await context.me.patch(`${path}/lfs`, { use_lfs: choice })).is(200).matches(sourceImport)
      answer.equals('use_lfs', answer.row().use_lfs, choice)
      ;(await context.me.delete(path)).is(204)
    },
  )

imports.check(
  'imports.lfs.invalid',
  `PATCH ${prefix}/lfs`,
  ['use_lfs string (required', '200 Import; 422, 503'],
  async (context) => {
    const { path } = await complete(context)
    ;(await context.me.patch(`${path}/lfs`, { use_lfs: 'perhaps' })).is(422)
    ;(await context.me.patch(`${path}/lfs`, {})).is(422)
  },
)
