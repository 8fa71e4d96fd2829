import type { Source } from '#importer/source.ts'
import { arrange } from './arranging.ts'
import { convert } from './converting.ts'
import { probe } from './locating.ts'
import { verify } from './verifying.ts'

/** Team Foundation version control, of Azure DevOps Services and Server, through its REST interface. */
export const tfvc: Source = { probe, convert, arrange, verify }
