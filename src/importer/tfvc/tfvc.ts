import type { Source } from '#importer/source.ts'
import { arrange } from './arrange.ts'
import { convert, listAuthors } from './convert.ts'
import { probe } from './locate.ts'
import { preview } from './preview.ts'
import { verify } from './verify.ts'

/** Team Foundation Version Control of Azure DevOps Services and Server, over its REST API. */
export const tfvc: Source = { probe, listAuthors, convert, preview, arrange, verify }
