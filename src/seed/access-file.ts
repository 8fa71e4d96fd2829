import { join } from 'node:path'
import type { Belfry } from '#belfry.ts'

/** Tokens, clients and private keys of the seed that was loaded, as JSON. In a file of its own, because every start imports it. */
export const accessFile = ({ settings }: Pick<Belfry, 'settings'>) => join(settings.BELFRY_DATA, 'seed-access.json')
