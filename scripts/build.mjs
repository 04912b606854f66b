import { build } from './prepare.mjs'

build({ force: true })
