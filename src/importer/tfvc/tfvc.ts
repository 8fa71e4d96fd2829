import type { Source } from '#importer/source.ts'
import { arrange } from './arrange.ts'
import { convert } from './convert.ts'
import { probe } from './locate.ts'
import { verify } from './verify.ts'

/** Team Foundation version control, of Azure DevOps Services and Server, through its REST interface. */
export const tfvc: Source = { probe, convert, arrange, verify }
