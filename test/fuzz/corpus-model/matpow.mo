model M Real a[40,40]; equation a=identity(40)+a^1000*time; end M;
