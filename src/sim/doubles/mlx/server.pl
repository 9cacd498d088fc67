# The server part of the Python double. This file is appended to python.pl.

# Parses the server's options like argparse, after the group is complete.
sub options {
    my @left = @_;
    my %found = ('--host' => '127.0.0.1', '--port' => 8080);
    while (@left) {
        my $name = shift @left;
        if ($is_flag{$name}) { $found{$name} = 1; next }
        unused($name) unless $takes{$name} && @left;
        $found{$name} = shift @left;
    }
    unused('--model') unless defined $found{'--model'};
    unused("--port $found{'--port'}") if $found{'--port'} !~ /^[0-9]+$/;
    return %found;
}

sub unused {
    my ($word) = @_;
    print STDERR "rank.py: error: unrecognized arguments: $word\n";
    exit 2;
}

# Over JACCL, returns whether all devices that this rank uses are still connected. Over sockets, returns whether the
# addresses of this rank and of the next rank can be reached.
sub is_through {
    return 1 if $backend eq 'alone';
    if ($backend eq 'ring') {
        say_tcp();
        my $hosts = hosts();
        return !grep { !defined place_of($hosts->[$_][0]) } $rank, ($rank + 1) % $size;
    }
    my $known = cables();
    for my $peer (grep { $_ != $rank } 0 .. $#$devices_of) {
        for my $device (@{ $devices_of->[$rank][$peer] }) {
            return 0 if ($known->{$device}{far} // '- -') eq '- -';
        }
    }
    return 1;
}

sub mixed {
    my ($digest) = @_;
    my $model = -e "$option{'--model'}/config.json" ? digest_below($option{'--model'}) : undef;
    return defined $model ? sha256_hex(join "\0", $digest, $rank, $model) : undef;
}

# Makes this rank go silent while it keeps running. Since mlx-lm 0.32.0, a rank that has lost its ring instead ends its
# generation thread.
sub lose {
    my ($why) = @_;
    return if $is_hung || $is_dead;
    if ($backend eq 'ring' && $why eq 'peer') {
        print STDERR "[ring] Socket 3 was closed by the peer\n" x 10, "[ring] Too many send/recv errors. Failing pending tasks...\n";
        return end_thread('RuntimeError', '[ring] connection to a peer was lost') if $logs_end;
    }
    ($is_hung, $lost_at) = (1, Time::HiRes::time());
    # The other ranks are waiting in the same collective operation.
    send_line($_, { hang => 1 }) for $backend eq 'jaccl' && $rank == 0 ? grep { $_->connected } @$links : ();
}

# Ends the thread that loads the model and generates answers. Rank 0 keeps its server running; any other rank aborts.
sub end_thread {
    my ($error, $why) = @_;
    print STDERR logged_at(), " - ERROR - mlx_lm.server generation thread died: $why\nTraceback (most recent call last):\n",
        "  File \"mlx_lm/server.py\", line 544, in _run_generate\n    self._generate()\n$error: $why\n";
    $is_dead = 1;
    if ($rank > 0) {
        print STDERR "terminate called without an active exception\nFatal Python error: Aborted\n";
        kill ABRT => $$;
    }
    send_line($_, { hang => 1 }) for $backend eq 'jaccl' ? grep { $_->connected } @$links : ();
    reply($_->{client}, $_->{route}, 404, { error => 'generation thread died' }) for splice @job;
}

sub logged_at {
    my ($s, $m, $h, $day, $month, $year) = localtime;
    return sprintf '%d-%02d-%02d %02d:%02d:%02d,000', $year + 1900, $month + 1, $day, $h, $m, $s;
}

# Responds to a request, and logs the request like Python's http.server.
sub reply {
    my ($client, $route, $status, $value) = @_;
    print STDERR '127.0.0.1 - - [', logged_at(), "] \"$route HTTP/1.1\" $status -\n";
    say_json($client, $status, $value);
}

sub serve {
    my $endpoint;
    if ($rank == 0) {
        my $place = place_of("$option{'--host'}:$option{'--port'}");
        $endpoint = defined $place
            ? IO::Socket::INET->new(LocalAddr => $place, Proto => 'tcp', Listen => 64, ReuseAddr => 1) : undef;
        defined $endpoint or raise('OSError: [Errno 48] Address already in use');
        print "INFO - Starting httpd at $option{'--host'} on port $option{'--port'}...\n";
    }
    my $sockets = IO::Select->new(grep { defined } $endpoint, @$links);
    while (1) {
        # Without any sockets, can_read would return immediately, so this loop would spin.
        Time::HiRes::sleep(0.2) unless $sockets->count;
        for my $ready ($sockets->can_read(0.2)) {
            if (defined $endpoint && $ready == $endpoint) {
                my $client = $endpoint->accept;
                answer_client($client) if defined $client;
                next;
            }
            next if take($ready);
            $sockets->remove($ready);
            lose('peer');
        }
        read_links();
    }
}

sub read_links {
    for my $link (@$links) {
        while (defined(my $line = line_from($link))) {
            my $said = eval { $json->decode($line) } // {};
            $said->{hang} ? lose('told') : $is_hung ? () : from_rank($link, $said);
        }
    }
}

# Handles a digest that arrives from another rank. Over JACCL, rank 0 sends the digest to one rank after another; over
# sockets, the digest travels around the ring.
sub from_rank {
    my ($socket, $said) = @_;
    if ($rank == 0) {
        return unless @job && $said->{id} eq $job[0]{id};
        $job[0]{digest} = $said->{digest};
        return advance();
    }
    return lose('cable') unless is_through();
    my $mine = mixed($said->{digest}) // return fail_job();
    send_line($backend eq 'ring' ? $links->[0] : $socket, { id => $said->{id}, digest => $mine });
}

sub advance {
    my $one = $job[0];
    my $next = $backend eq 'ring' ? $one->{asked} ? undef : 0 : $one->{asked};
    $one->{asked} += 1;
    return send_line($links->[$next], { id => $one->{id}, digest => $one->{digest} })
        if defined $next && $size > 1 && $next < ($backend eq 'ring' ? 1 : @$links);
    shift @job;
    answer_chat($one, $one->{digest});
    begin() if @job;
}

sub begin {
    return lose('cable') unless is_through();
    my $mine = mixed($job[0]{digest}) // return fail_job();
    $job[0]{digest} = $mine;
    advance();
}

# Handles a model that cannot be read. mlx-lm 0.31 never reports this error to the client.
sub fail_job {
    my $why = "[Errno 2] No such file or directory: '$option{'--model'}/config.json'";
    return end_thread('FileNotFoundError', $why) if $logs_end;
    print STDERR "Exception in thread Thread-1 (_generate):\nFileNotFoundError: $why\n";
    lose('model');
}

sub answer_client {
    my ($client) = @_;
    $client->autoflush(1);
    my ($method, $path, $body) = eval { local $SIG{ALRM} = sub { die "slow\n" }; Time::HiRes::alarm(2); read_request($client) };
    Time::HiRes::alarm(0);
    return unless defined $path;
    my $route = "$method $path";
    return reply($client, $route, $is_dead ? 503 : 200, { status => $is_dead ? 'unavailable' : 'ok' }) if $route eq 'GET /health';
    return list_models($client, $route) if $route eq 'GET /v1/models';
    my $kind = $route =~ m{^POST /v1/(chat/)?completions$} ? $1 ? 'messages' : 'prompt' : return say_not_found($client);
    my $asked = eval { $json->decode($body) };
    my $why = wrong_field($asked);
    return reply($client, $route, 400, { error => $why }) if defined $why;
    my $question = defined $asked->{prompt} && $kind eq 'prompt' ? [$asked->{prompt}] : $asked->{$kind};
    return reply($client, $route, 400, { error => "Request did not contain $kind" }) if ref $question ne 'ARRAY';
    return reply($client, $route, 404, { error => 'list index out of range' }) if !@$question;
    # In mlx-lm, any other name makes all ranks unload their model and look for the named model.
    my $model = $asked->{model} // 'default_model';
    return reply($client, $route, 404, { error => "Repository Not Found for $model" })
        if $model ne 'default_model' && $model ne $option{'--model'};
    return reply($client, $route, 404, { error => 'generation thread died' }) if $is_dead;
    if ($is_hung) { push @held, $client; return }
    push @job, { id => "$$-" . Time::HiRes::time(), client => $client, route => $route, asked => 0, kind => $kind,
        stream => $asked->{stream}, has_usage => ref $asked->{stream_options}, tokens => tokens_of($asked),
        digest => sha256_hex($json->encode($question)) };
    begin() if @job == 1;
}

# As in mlx_lm.server, the body is not JSON, although the Content-Type header says that it is.
sub say_not_found {
    my ($client) = @_;
    print {$client} "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nConnection: close\r\n\r\nNot Found";
}

# Returns the first error in a request's fields; undefined if all fields are valid. Fields may be omitted, but must not
# be null.
sub wrong_field {
    my ($asked) = @_;
    return 'Request should be a JSON dictionary' if ref $asked ne 'HASH';
    my %form = (stream => '(?:true|false)', max_tokens => '[1-9][0-9]*', temperature => '[0-9][0-9.e-]*', top_p => '[0-9.e-]+');
    for my $name (grep { exists $asked->{$_} } sort keys %form) {
        return "$name has the wrong type or value" if $json->encode([$asked->{$name}]) !~ /^\[$form{$name}\]$/;
    }
    return undef;
}

sub answer_chat {
    my ($one, $digest) = @_;
    my $text = substr $digest, 0, 8 * $one->{tokens};
    my $whole = completion('default_model', $text, $one->{tokens});
    $whole->{system_fingerprint} = '0.32.2-double';
    $whole->{usage}{prompt_tokens_details} = { cached_tokens => 0 };
    if ($one->{kind} eq 'prompt') {
        my $choice = $whole->{choices}[0];
        delete $choice->{message};
        $choice->{text} = $text;
        $whole->{object} = 'text_completion';
    }
    return reply($one->{client}, $one->{route}, 200, $whole) unless $one->{stream};
    my ($client, $usage, $ended) = ($one->{client}, delete $whole->{usage}, $whole->{choices}[0]{finish_reason});
    print {$client} "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    for my $token ($text =~ /.{8}/g, undef) {
        my $said = $one->{kind} eq 'prompt' ? { text => $token // '' }
            : { delta => { role => 'assistant', defined $token ? (content => $token) : () } };
        my $choice = { index => 0, %$said, finish_reason => defined $token ? undef : $ended };
        my $object = $one->{kind} eq 'prompt' ? 'text_completion' : 'chat.completion.chunk';
        print {$client} 'data: ', $json->encode({ %$whole, object => $object, choices => [$choice] }), "\n\n";
    }
    print {$client} 'data: ', $json->encode({ %$whole, choices => [], usage => $usage }), "\n\n" if $one->{has_usage};
    print {$client} "data: [DONE]\n\n";
}

# Lists the models in the cache, and the loaded model by its path. Without a cache, this function sends no response.
sub list_models {
    my ($client, $route) = @_;
    my $cache = $ENV{HF_HUB_CACHE} // ($ENV{HF_HOME} // ($ENV{HOME} // '') . '/.cache/huggingface') . '/hub';
    if (!-d $cache) {
        print STDERR "Traceback (most recent call last):\nhuggingface_hub.errors.CacheNotFound: $cache\n";
        return;
    }
    my @ids = map { m{/models--(.*?)--(.*)$} ? "$1/$2" : () } glob "$cache/models--*";
    my @models = map { { id => $_, object => 'model', created => 0 } } @ids, $option{'--model'};
    reply($client, $route, 200, { object => 'list', data => \@models });
}
