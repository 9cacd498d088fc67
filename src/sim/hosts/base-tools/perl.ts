import { partText } from '../../doubles/double-files.ts';
import { dataFile, type NodeFile, perlQuote, shellQuote, toolFile } from '../../model/node-files.ts';

export const perlPath = '/usr/bin/perl';
const folder = '/.sim/perl';

/** The host machine's perl with a module that comes before all others, so that their calls are redirected, too. */
const wrapper = (host: string): string => `#!/bin/sh
exec ${shellQuote(host)} -I"\${0%${perlPath}}${folder}" -MSimulatedNetwork "$@"
`;

/**
 * The module that every perl program of a node loads. It defines four functions and loads the rest when one of them is
 * called, because most programs use no socket.
 */
const module = `package SimulatedNetwork;
our ($root) = __FILE__ =~ m{(.*)${folder}/};
our $folder = "$root/.sim";
@INC = grep { $_ ne "$root${folder}" } @INC;
$^X = "$root${perlPath}";
sub load { require "$folder/perl/network.pl" }
*CORE::GLOBAL::bind = sub (*$) { load(); goto &redirected_bind };
*CORE::GLOBAL::connect = sub (*$) { load(); goto &redirected_connect };
*CORE::GLOBAL::getsockname = sub (*) { load(); goto &redirected_getsockname };
*CORE::GLOBAL::getpeername = sub (*) { load(); goto &redirected_getpeername };
1;
`;

/**
 * The perl of a node whose addresses are loopback ports of this machine. A wrapper, not the environment, loads the
 * module, because sudo removes PERL5OPT.
 *
 * @param host path of perl on this machine
 * @param askPath the simulator's socket
 */
export const perlFiles = (host: string, askPath: string): readonly NodeFile[] => [
  toolFile(perlPath, wrapper(host)),
  dataFile(`${folder}/SimulatedNetwork.pm`, module),
  dataFile(`${folder}/network.pl`, `$SimulatedNetwork::simulator = ${perlQuote(askPath)};\n${partText('network.pl')}`),
];
