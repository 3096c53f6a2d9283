"""An entry of the deployments registry, from the JSON of releases and of a budget.

The registry is that of OpenDP (opendp/deployments-registry-data), with the schema of commit 3e9c812 of 2026-07-15.
`product` reads what was released and what all of it cost, `sentences` has what is true of each mechanism and of every
release of nobounds, `entry` puts both into the fields of the registry, and `text` writes them as YAML.
"""
